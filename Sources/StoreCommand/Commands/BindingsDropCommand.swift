import ArgumentParser
import ModelStore

/// `bindings drop`: ends one binding.
struct BindingsDropCommand: WritingCommand {
  static let configuration = CommandConfiguration(
    commandName: "drop", abstract: "Drop a binding; its field keeps its present values.",
    discussion: """
      Example: storecli bindings drop Album.artistName
      A program that declares the binding installs it again when it opens the file. Where the field \
      has other bindings, it follows the next of them from now on. On a terminal you are asked \
      first. The journal records no causes: history then shows the changes of the binding as those \
      of the programs that caused them.
      """)

  @Argument(help: "The binding's name.", completion: Completion.binding)
  var name: String

  @Flag(help: "Do not ask before the binding is dropped.")
  var yes = false

  @OptionGroup var write: WriteOptions
  @OptionGroup(title: "Common options") var options: GlobalOptions

  var hasData: Bool { false }

  func run(_ context: CommandContext) throws -> ExitCode {
    let looked = try context.openToLook()
    let bindings = try looked.store.bindings()
    guard let binding = bindings.first(where: { $0.name == name }) else {
      throw CommandError.unknown(
        "binding", name, among: bindings.map(\.name), code: .unknownBinding,
        list: "storecli bindings list")
    }
    if bindings.contains(where: { $0.target == binding.target && $0 != binding }) {
      for model in try binding.writtenModels(among: bindings, in: looked.store) {
        _ = try looked.writableModel(named: model, write)
      }
    }
    looked.store.close()
    var opened = try context.openForWriting()
    guard try isGranted(binding, in: opened.store, context) else {
      try context.console.say("nothing was dropped")
      return .failed
    }
    let count =
      try context.isDryRun
      ? opened.store.dropBinding(name, mode: .preview)
      : context.changeCatalog(through: &opened) { try $0.dropBinding(name) }
    let would = context.isDryRun ? "would be " : ""
    try context.console.say("\(would)dropped \(name)")
    if count > 0 {
      try context.console.say(
        "\(Grouped.text(count, "record")) \(would)updated by the next binding of "
          + "\(binding.target)")
    }
    if try opened.store.changeJournal.details()[binding.target.model] != nil {
      try context.console.say(
        "history \(context.isDryRun ? "would show" : "shows") its changes as those of the programs "
          + "that caused them, because the journal records no causes")
    }
    if context.isDryRun { try context.console.say("dry run: nothing was dropped") }
    return .ok
  }

  /// Asks on a terminal, after what would be removed. A script gets what it asked for.
  private func isGranted(
    _ binding: BindingSchema, in store: Store, _ context: CommandContext
  ) throws -> Bool {
    guard !yes, !context.isDryRun, Confirmation.canAsk(context.console) else { return true }
    let model = try store.schema.model(named: binding.target.model)
    let kept = try store.read { reads in
      try reads.count(
        StoreQuery<DynamicRecord>(model), maxStepCount: ModelsCommand.countStepMax)
    }
    let count = try store.dropBinding(name, mode: .preview)
    let next =
      count == 0
      ? "keeps its value"
      : "keeps its value, except in \(Grouped.text(count, "record")) that the next binding updates"
    let lines = [
      "- binding \(name): \(binding)",
      "\(binding.target) \(next); \(model.name) has "
        + (kept.map { Grouped.text($0, "record") } ?? "many records"),
    ]
    try Confirmation.preview(count: lines.count, on: context.console) { lines[$0] }
    return try Confirmation.isGranted(
      "Drop the binding \(name)?", isGiven: false, flag: "--yes", console: context.console)
  }
}
