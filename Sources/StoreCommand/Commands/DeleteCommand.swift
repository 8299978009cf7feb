import ArgumentParser
import ModelStore

/// `delete`: records by key, or all that meet a predicate, with what cascades delete.
struct DeleteCommand: WritingCommand {
  static let configuration = CommandConfiguration(
    commandName: "delete", abstract: "Delete records.",
    discussion: """
      Examples: storecli delete Artist 1 --dry-run
      storecli delete Track --where 'plays = 0' --yes
      The report also lists the records that cascades delete.
      """)

  @Argument(help: "The model.", completion: Completion.model)
  var model: String

  @Argument(
    help: ArgumentHelp("The keys; not with --where.", valueName: "id"), completion: Completion.key)
  var keys: [String] = []

  @Option(
    name: .customLong("where"),
    help: ArgumentHelp(
      "Delete all records that meet this; see storecli help predicates.", valueName: "predicate"),
    completion: Completion.field)
  var predicate: String?

  @Flag(help: "Delete the records that --where selects without asking.")
  var yes = false

  @OptionGroup var write: WriteOptions
  @OptionGroup(title: "Common options") var options: GlobalOptions

  func validate() throws {
    guard keys.isEmpty != (predicate == nil) else {
      throw ValidationError("Name the records by their keys or with --where.")
    }
  }

  var takesFields: Bool { false }

  func run(_ context: CommandContext) throws -> ExitCode {
    let (opened, schema, (wanted, query)) = try context.openForWriting(write, model: model) {
      looked, schema in
      let wanted = try keys.map { try KeyText.key($0, for: schema, in: looked) }
      var seen: Set<[SQLValue]> = []
      if let repeated = wanted.first(where: { !seen.insert($0).inserted }) {
        throw CommandError.usage(
          "\(KeyText.text(repeated)) is named twice; nothing was deleted.", model: schema.name)
      }
      return (wanted, try PredicateText(schema: schema).query(where: predicate))
    }
    guard predicate != nil else {
      try context.writing(opened) { transaction in
        for key in wanted where try !transaction.delete(schema, key: key) {
          throw CommandError(
            .notFound, code: "recordNotFound",
            "There is no record \(KeyText.text(key)) in \(schema.name); nothing was deleted.",
            hint: "storecli query \(Shell.quoted(schema.name))", model: schema.name)
        }
        return wanted.count
      }
      return .ok
    }
    if !change.dryRun, !yes {
      let changes = try opened.changes(mode: .preview) { transaction in
        _ = try transaction.delete(query)
      }
      let report = ChangeReport(changes, in: opened.store.schema)
      if Confirmation.canAsk(context.console) { try report.preview(to: context.console) }
      let isGranted =
        try changes.isEmpty
        || Confirmation.isGranted(
          "The changes are: \(report.summary). Continue?", isGiven: false, flag: "--yes",
          console: context.console)
      guard isGranted else {
        try context.console.say("nothing was deleted")
        return .failed
      }
    }
    try context.writing(opened) { transaction in try transaction.delete(query) }
    return .ok
  }
}
