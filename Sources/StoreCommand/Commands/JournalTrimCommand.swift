import ArgumentParser
import ModelStore

/// `journal trim`: removes the oldest entries.
struct JournalTrimCommand: ChangingCommand {
  static let configuration = CommandConfiguration(
    commandName: "trim", abstract: "Remove the oldest entries of the journal.",
    discussion: """
      Example: storecli journal trim --keep-age 30d
      The newest transaction stays, and so do entries that a consumer has not acknowledged. The \
      file does not shrink; new entries reuse the space.
      """)

  @Option(
    help: ArgumentHelp("Keep entries up to this age, such as 30d or 12h.", valueName: "span"))
  var keepAge: String?

  @Option(
    parsing: .unconditional, help: ArgumentHelp("Keep this number of entries.", valueName: "count"))
  var keep: Int?

  @Flag(help: "Also remove entries that consumers have not acknowledged; they receive a gap.")
  var ignoreConsumers = false

  @OptionGroup var change: ChangeOptions
  @OptionGroup(title: "Common options") var options: GlobalOptions

  var hasData: Bool { false }

  func validate() throws {
    guard keepAge != nil || keep != nil else {
      throw ValidationError("Say what to keep: --keep-age, --keep or both.")
    }
    guard keep ?? 0 >= 0 else { throw ValidationError("--keep takes 0 or more.") }
    guard keepAge.map({ TimeText.span($0) != nil }) ?? true else {
      throw ValidationError("--keep-age takes a number with s, m, h, d or w, such as 30d.")
    }
  }

  func run(_ context: CommandContext) throws -> ExitCode {
    let retention = JournalRetention(
      age: keepAge.flatMap(TimeText.span).map { .microseconds($0) }, maxEntryCount: keep,
      respectingConsumers: !ignoreConsumers)
    let looked = try context.openToLook().store
    var trimming = try looked.changeJournal.trim(retention, mode: .preview)
    looked.close()
    // Opening for writing would turn any database into a store.
    if !context.isDryRun, trimming.removedCount > 0 {
      trimming = try context.openForWriting().store.changeJournal.trim(retention)
    }
    let count = Grouped.text(trimming.removedCount, "entry", "entries")
    let kept = trimming.kept.map { ", positions \($0.lowerBound) to \($0.upperBound) kept" } ?? ""
    try context.console.say(
      (context.isDryRun ? "dry run: \(count) would be removed" : "\(count) removed") + kept)
    if let name = trimming.heldBackBy {
      try context.console.say("more is kept for the consumer \(name) (\(Program.name) consumers)")
    }
    return .ok
  }
}
