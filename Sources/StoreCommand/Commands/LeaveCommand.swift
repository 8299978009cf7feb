import ArgumentParser
import ModelStore
import RecordFormats

/// `leave`: undoes adoption.
struct LeaveCommand: ChangingCommand {
  static let configuration = CommandConfiguration(
    commandName: "leave", abstract: "Undo adoption; tables and records stay as they are.",
    discussion: """
      Examples: storecli leave Track -n
      storecli leave
      The models leave the catalog with their bindings, added rules and lists, and the journal \
      stops recording their changes. Their recorded changes stay as long as other models do. With \
      the last model, everything leaves that adoption brought into the file, so its schema is what \
      it was before. The file keeps its write-ahead log.
      The command refuses to remove more than the models: bindings and rules of other models that \
      need them, validators in Swift, and the journal with its entries and consumers. --force \
      removes those too. -n lists what would be removed. Models that a program declares in Swift \
      cannot leave.
      """)

  @Argument(
    help: "The models; all adopted models when none is named.", completion: ModelCompletion.kind)
  var models: [String] = []

  @Flag(help: "Also remove what needs the models, and the journal with the last model.")
  var force = false

  @OptionGroup var change: ChangeOptions
  @OptionGroup(title: "Common options") var options: GlobalOptions

  func run(_ context: CommandContext) throws -> ExitCode {
    let writer = try context.reportWriter(
      columns: [
        OutputColumn("kind"), OutputColumn("name", role: .key), OutputColumn("reason"),
      ])
    let opened = try context.openToLook()
    for name in models { _ = try opened.model(named: name) }
    let names = models.isEmpty ? nil : models
    let policy = force ? LossPolicy.accept : .refuse
    let planned = try opened.store.leave(names, losing: policy, mode: .preview)
    if !force { try check(planned) }
    opened.store.close()
    let isNothing = planned.models.isEmpty && !planned.removesCatalog
    guard !change.dryRun, !isNothing else {
      try report(planned, opened, to: writer, context)
      return .ok
    }
    let opening = try context.openForWriting()
    let done = try opening.store.leave(names, losing: policy)
    try context.reporting { try report(done, opening, to: writer, context) }
    return .ok
  }

  /// The error for a removal that would lose more than the models.
  private func check(_ departure: ModelDeparture) throws {
    var details = departure.dependents.map { "  \($0.kind.rawValue) \($0.name): \($0.reason)" }
    if departure.lostEntryCount > 0 {
      details.append("  journal: \(Grouped.text(departure.lostEntryCount, "entry", "entries"))")
    }
    details += departure.lostConsumers.map { "  consumer \($0) of the journal" }
    guard !details.isEmpty else { return }
    let words = models.map { " \(Shell.quoted($0))" }.joined()
    throw CommandError(
      .rejected, code: StoreError.Code.conflict.rawValue,
      "Nothing was changed: more would be lost than the models.", details: details,
      hint: "storecli leave\(words) --force",
      model: departure.models.count == 1 ? departure.models[0] : nil)
  }

  private func report(
    _ departure: ModelDeparture, _ opened: OpenedStore, to writer: any RowWriter,
    _ context: CommandContext
  ) throws {
    var writer = writer
    for name in departure.models {
      try writer.write([.text("model"), .text(name), .text("")])
    }
    for item in departure.removed {
      try writer.write([.text(item.kind.rawValue), .text(item.name), .text(item.reason)])
    }
    try context.finish(writer)
    let ending = change.dryRun ? "; dry run: nothing was written" : ""
    guard !departure.models.isEmpty || departure.removesCatalog else {
      return try context.console.say("no model was adopted")
    }
    let modal = change.dryRun ? "would leave" : "left"
    try context.console.say(
      "\(Grouped.text(departure.models.count, "model")) \(modal)"
        + (departure.removesCatalog ? ", and the store's own tables" : "") + ending)
    guard departure.removesCatalog, opened.store.usesWriteAheadLog else { return }
    try context.console.say(
      "the file keeps its write-ahead log; sqlite3 \(Shell.quoted(opened.location.path)) "
        + "'PRAGMA journal_mode = DELETE' takes that back")
  }
}
