import ArgumentParser
import ModelStore

/// `journal on`: records the changes of models from now on.
struct JournalOnCommand: ChangingCommand {
  static let configuration = CommandConfiguration(
    commandName: "on", abstract: "Record changes of these models from now on, from every program.",
    discussion: """
      Example: storecli journal on Track Album
      Triggers in the file record the changes, so those of every program are included. Entries \
      take space until you trim them.
      """)

  @Argument(help: "The models; all of them when none is named.", completion: Completion.model)
  var models: [String] = []

  @Flag(help: "Record which records changed, not their values.")
  var keys = false

  @OptionGroup var change: ChangeOptions
  @OptionGroup(title: "Common options") var options: GlobalOptions

  var hasData: Bool { false }

  func run(_ context: CommandContext) throws -> ExitCode {
    let looked = try context.openToLook()
    let views = Set(looked.store.schema.models.filter { $0.kind == .view }.map(\.name))
    let refusals = models.isEmpty ? try looked.store.changeJournal.refusals() : [:]
    for name in models { _ = try looked.model(named: name) }
    let isStore = !looked.store.schema.models.isEmpty
    let isSharedAlready = try isOn(in: looked, except: refusals) && looked.isMember
    looked.store.close()
    let whose = models.isEmpty ? "all models" : models.joined(separator: ", ")
    // Opening for writing would change a database that is not a store yet.
    // All members of a shared store would begin again for nothing.
    if isStore || !context.isDryRun, !isSharedAlready { try turnOn(context) }
    try context.console.say(
      (context.isDryRun ? "dry run: the journal would be turned on" : "the journal is on")
        + " for \(whose), with \(keys ? "keys only" : "old and new values")")
    // A view has no changes of its own, and a database may have many views.
    for (model, reason) in refusals.sorted(by: { $0.key < $1.key }) where !views.contains(model) {
      try context.console.say("left out: \(model), because \(reason)")
    }
    if !refusals.keys.allSatisfy({ !views.contains($0) }) {
      try context.console.say(
        "left out: \(Grouped.text(views.count, "view")); a view has no changes of its own")
    }
    return .ok
  }

  private var detail: JournalDetail { keys ? .keys : .full }

  private func turnOn(_ context: CommandContext) throws {
    let names = models.isEmpty ? nil : models
    var opened = try context.openForWriting()
    guard !context.isDryRun else {
      return try opened.store.changeJournal.enable(detail, for: names, mode: .preview)
    }
    try context.changeCatalog(through: &opened) { try $0.changeJournal.enable(detail, for: names) }
  }

  /// Whether the journal records the models as the command asks.
  private func isOn(in looked: OpenedStore, except refusals: [String: String]) throws -> Bool {
    let details = try looked.store.changeJournal.details()
    let names = models.isEmpty ? looked.store.schema.models.map(\.name) : models
    return names.allSatisfy { details[$0] == detail || refusals[$0] != nil }
  }
}
