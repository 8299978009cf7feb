import ArgumentParser
import ModelStore

/// `import`: the records of a file, however many, into one model.
struct ImportCommand: WritingCommand {
  /// What to do with a record that cannot be taken.
  enum ErrorPolicy: String, CaseIterable, ExpressibleByArgument {
    /// Stop; the transaction it stands in is rolled back.
    case stop
    /// Leave it out.
    case skip
    /// Leave it out and write it to the file of rejects.
    case collect
  }

  static let configuration = CommandConfiguration(
    commandName: "import", abstract: "Read the records of a file into a model.",
    discussion: """
      Example: storecli import people.csv --model Person --upsert
      Reads CSV or TSV with a header, NDJSON, and one JSON array or object. Everything is one \
      transaction unless --batch is given. Before it begins, a pipe is read to its end into a \
      temporary file. Ctrl-C stops, rolls the running transaction back and says what is committed; \
      a second one ends at once and may leave FILE.PID.partial beside the file of rejects.
      """)

  @Argument(help: ArgumentHelp("The file, - for standard input.", valueName: "file"))
  var path: String

  @Option(help: "The model.")
  var model: String

  @Option(
    help: ArgumentHelp(
      "csv, tsv, ndjson or json; otherwise told from the file.", valueName: "format"))
  var format: RecordInput.Format?

  @Option(
    help: ArgumentHelp("What to do with a bad record, stop, skip or collect.", valueName: "what"))
  var onError = ErrorPolicy.stop

  @Option(help: ArgumentHelp("Where collect writes bad records.", valueName: "file"))
  var rejects: String?

  @Flag(help: "Update the record when the key is taken.")
  var upsert = false

  @Option(
    help: ArgumentHelp(
      "The field for a name in the file; repeat for others.", valueName: "name=field"))
  var map: [String] = []

  @Flag(help: "Pass over names in the file that are no field.")
  var ignoreExtra = false

  @Option(help: ArgumentHelp("The CSV cell that means null.", valueName: "text"))
  var null: String?

  @Option(
    help: ArgumentHelp("What separates CSV cells; a comma by default.", valueName: "character"))
  var delimiter: String?

  @Option(help: ArgumentHelp("Records in one transaction; all by default.", valueName: "n"))
  var batch: Int?

  @OptionGroup var write: WriteOptions
  @OptionGroup var options: GlobalOptions

  func validate() throws {
    guard batch ?? 1 >= 1 else { throw ValidationError("--batch takes 1 or more.") }
    guard map.allSatisfy({ $0.contains("=") }) else {
      throw ValidationError("--map takes NAME=FIELD.")
    }
    guard delimiter == nil || delimiterByte != nil else {
      throw ValidationError("--delimiter takes one ASCII character, or tab.")
    }
    guard rejects == nil || onError == .collect else {
      throw ValidationError("--rejects goes with --on-error collect.")
    }
    guard rejects != "-" else {
      throw ValidationError("--rejects takes the name of a file; - is none.")
    }
  }

  private var delimiterByte: UInt8? {
    if delimiter == "tab" { return UInt8(ascii: "\t") }
    guard let delimiter, delimiter.utf8.count == 1, let byte = delimiter.utf8.first, byte < 0x80,
      ![UInt8(ascii: "\""), UInt8(ascii: "\n"), UInt8(ascii: "\r")].contains(byte)
    else { return nil }
    return byte
  }

  var takesFields: Bool { false }

  func run(_ context: CommandContext) throws -> ExitCode {
    let (opened, schema, _) = try context.openForWriting(write, model: model)
    var reading = RecordInput.Options()
    reading.format = format
    reading.delimiter = delimiterByte
    reading.ignoresExtra = ignoreExtra
    reading.nullText = self.null
    for pair in map {
      let cut = pair.lastIndex(of: "=") ?? pair.endIndex
      reading.fieldNames[String(pair[..<cut])] = String(pair[cut...].dropFirst())
    }
    let plan = Importing.Plan(
      isUpsert: upsert, stopsAtError: onError == .stop, batchCount: batch, isDryRun: change.dryRun)
    reading.readsAhead = plan.isOneTransaction
    Interruption.await()
    let input = try RecordInput(
      path: path, schema: schema, options: reading, refusing: opened.location.storePaths)
    // A dry run counts the rejects and writes no file.
    let rejects =
      onError == .collect && !change.dryRun
      ? RejectsFile(
        path: self.rejects ?? RejectsFile.path(for: path, model: model),
        headerBytes: input.headerBytes, refusing: opened.location.storePaths + [path]) : nil
    var importing = Importing(
      input: input, schema: schema, store: opened.store, rejects: rejects,
      console: context.console, plan: plan)
    return try importing.run()
  }
}
