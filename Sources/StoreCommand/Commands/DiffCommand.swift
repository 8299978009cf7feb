import ArgumentParser
import ModelStore
import RecordFormats

/// `diff`: the records that differ between two databases, or all records of one as a text.
struct DiffCommand: ChangingCommand {
  static let configuration = CommandConfiguration(
    commandName: "diff", abstract: "Compare the records of two databases.",
    discussion: """
      Examples: storecli diff app.db backup.db
      storecli diff app.db copy.db --apply
      Prints what has to change in the first database so that it has the records of the second, \
      ordered by model and key, and exits with 2 if they differ. With --apply, the first database \
      is changed so, in one transaction with all rules; bindings update their fields.
      With --text, prints each record of one database, always in the same order. For git: \
      git config diff.store.textconv 'storecli diff --text' and a line *.db diff=store in \
      .gitattributes.
      """)

  @Argument(
    help: ArgumentHelp("The database to change.", valueName: "database"), completion: .file())
  var first: String

  @Argument(
    help: ArgumentHelp("The database to compare it with.", valueName: "other"),
    completion: .file())
  var second: String?

  @Flag(help: "Change the first database.")
  var apply = false

  @Flag(help: "Print the records of one database.")
  var text = false

  @OptionGroup var write: WriteOptions
  @OptionGroup(title: "Common options") var options: GlobalOptions

  var change: ChangeOptions { write.change }
  var takesFields: Bool { false }

  func validate() throws {
    guard text == (second == nil) else {
      throw ValidationError(
        text ? "--text takes one database." : "Name two databases, or one with --text.")
    }
    guard !(text && apply) else { throw ValidationError("--apply takes two databases.") }
    guard options.database == nil else {
      throw ValidationError("diff takes its databases as arguments, not by -d.")
    }
    guard apply || !change.dryRun else { throw ValidationError("--dry-run goes with --apply.") }
  }

  func run(_ context: CommandContext) throws -> ExitCode {
    let opened = try context.openForReading(at: first)
    guard let second else {
      // Git would stop at a version without models.
      if opened.store.schema.models.isEmpty {
        try context.console.say("the database has no models yet, so it has no records")
      }
      return try printText(of: opened, context)
    }
    let other = try context.openForReading(at: second)
    if other.store.schema.models.isEmpty { try requireModels(opened) }
    if apply { return try apply(opened, other, context) }
    var report = try DifferenceReport(context)
    try OpenedStore.reading {
      try opened.store.forEachDifference(to: other.store) { record in
        try report.add(record, opened.store.schema)
      }
    }
    try report.finish()
    return report.count > 0 ? .found : .ok
  }

  /// Refuses a database whose tables are not models yet. It would look as if it had no records.
  private func requireModels(_ opened: OpenedStore) throws {
    guard opened.store.schema.models.isEmpty else { return }
    throw CommandError(
      .notFound, code: "unknownModel", "The database has no models yet, so it has no records.",
      hint: "storecli adopt -d \(Shell.quoted(first))")
  }

  private func apply(
    _ opened: OpenedStore, _ other: OpenedStore, _ context: CommandContext
  ) throws -> ExitCode {
    let differences = try OpenedStore.reading { try opened.store.difference(to: other.store) }
    for model in Set(differences.map(\.model)).sorted() {
      _ = try opened.writableModel(named: model, write)
    }
    opened.store.close()
    guard !differences.isEmpty else {
      try context.console.say("no change: the records are the same")
      return .ok
    }
    let store = try context.openForWriting(at: first).store
    let changes = try store.apply(differences, mode: context.isDryRun ? .preview : .commit)
    try context.reporting { try ChangeReport(changes, in: store.schema).write(to: context) }
    return .ok
  }

  /// Prints all records, each as one that is inserted.
  private func printText(of opened: OpenedStore, _ context: CommandContext) throws -> ExitCode {
    var report = try DifferenceReport(context)
    let models = opened.store.schema.models.filter { $0.kind == .table }
    try opened.read { reads in
      for model in models.sorted(by: { $0.name.utf8.lexicographicallyPrecedes($1.name.utf8) }) {
        let query = StoreQuery<DynamicRecord>(model)
        try reads.forEach(query) { record in
          let names = model.fields.map(\.name)
          let values = Dictionary(uniqueKeysWithValues: zip(names, record.values))
          try report.add(
            RecordDifference(model: model.name, key: record.key, old: nil, new: values),
            opened.store.schema)
        }
      }
    }
    // Git shows what a text conversion says, and does not remove the files that it leaves.
    try report.end()
    opened.store.closeRemovingEmptyLog()
    return .ok
  }
}
