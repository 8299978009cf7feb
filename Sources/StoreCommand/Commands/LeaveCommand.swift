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
      removes those too. -n lists what would be removed, and on a terminal you are asked first. \
      Models that a program declares in Swift \
      cannot leave.
      """)

  @Argument(
    help: "The models; all adopted models when none is named.", completion: Completion.model)
  var models: [String] = []

  @Flag(help: "Also remove what needs the models, and the journal with the last model.")
  var force = false

  @Flag(help: "Do not ask before the models leave.")
  var yes = false

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
    guard try isGranted(planned, context) else {
      try context.console.say("nothing was removed")
      return .failed
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

  /// Asks on a terminal, after what would be removed. A script gets what it asked for.
  private func isGranted(_ planned: ModelDeparture, _ context: CommandContext) throws -> Bool {
    guard !yes, Confirmation.canAsk(context.console) else { return true }
    let lines =
      planned.models.map { "- model \($0)" }
      + planned.removed.map { "- \($0.kind.rawValue) \($0.name)  \($0.reason)" }
      + planned.lostConsumers.map { "- consumer \($0)" }
    try Confirmation.preview(count: lines.count, on: context.console) { lines[$0] }
    let catalog = planned.removesCatalog ? ", with the store's own tables" : ""
    return try Confirmation.isGranted(
      "Remove \(Self.counts(of: planned)) from the store\(catalog)? Tables and records stay.",
      isGiven: false, flag: "--yes", console: context.console)
  }

  /// What would be removed, counted: `2 models, 1 binding, 12 journal entries`.
  private static func counts(of planned: ModelDeparture) -> String {
    var counts: [(noun: String, count: Int)] = [("model", planned.models.count)]
    for noun in planned.removed.map(\.kind.rawValue) {
      if let place = counts.firstIndex(where: { $0.noun == noun }) {
        counts[place].count += 1
      } else {
        counts.append((noun, 1))
      }
    }
    counts.append(("consumer", planned.lostConsumers.count))
    var parts = counts.filter { $0.count > 0 }.map { Grouped.text($0.count, $0.noun) }
    if planned.lostEntryCount > 0 {
      parts.append(Grouped.text(planned.lostEntryCount, "journal entry", "journal entries"))
    }
    return parts.joined(separator: ", ")
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
