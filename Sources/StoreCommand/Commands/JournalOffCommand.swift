import ArgumentParser
import ModelStore

/// `journal off`: stops recording the changes of models.
struct JournalOffCommand: ChangingCommand {
  static let configuration = CommandConfiguration(
    commandName: "off", abstract: "Stop recording changes of these models.",
    discussion: """
      Example: storecli journal off Track
      Recorded entries stay until you trim them. If you turn the journal on again, consumers and \
      watch receive a gap.
      """)

  @Argument(help: "The models; all of them when none is named.", completion: Completion.model)
  var models: [String] = []

  @OptionGroup var change: ChangeOptions
  @OptionGroup(title: "Common options") var options: GlobalOptions

  var hasData: Bool { false }

  func run(_ context: CommandContext) throws -> ExitCode {
    let looked = try context.openToLook()
    let details = try looked.store.changeJournal.details()
    if models.isEmpty, details.isEmpty {
      // Opening for writing would turn any database into a store.
      try context.console.say("the journal was off already")
      return .ok
    }
    for name in models { _ = try looked.model(named: name) }
    let isStore = !looked.store.schema.models.isEmpty
    let isOff = !models.isEmpty && models.allSatisfy { details[$0] == nil }
    let isSharedAlready = try isOff && looked.isMember
    looked.store.close()
    let whose = models.isEmpty ? "all models" : models.joined(separator: ", ")
    // Opening for writing would change a database that is not a store yet.
    // All members of a shared store would begin again for nothing.
    if isStore || !context.isDryRun, !isSharedAlready { try turnOff(context) }
    try context.console.say(
      (context.isDryRun ? "dry run: the journal would be turned off" : "the journal is off")
        + " for \(whose)")
    return .ok
  }

  private func turnOff(_ context: CommandContext) throws {
    let names = models.isEmpty ? nil : models
    var opened = try context.openForWriting()
    guard !context.isDryRun else {
      return try opened.store.changeJournal.disable(for: names, mode: .preview)
    }
    try context.changeCatalog(through: &opened) { try $0.changeJournal.disable(for: names) }
  }
}
