import ArgumentParser
import ModelStore
import RecordFormats

/// `import`: the records of files of any size, into their models.
struct ImportCommand: WritingCommand {
  /// What to do with a record that cannot be imported.
  enum ErrorPolicy: String, CaseIterable, ExpressibleByArgument {
    /// Stop and roll back the transaction.
    case stop
    /// Leave it out.
    case skip
    /// Leave it out and write it to the file of rejects.
    case collect
  }

  static let configuration = CommandConfiguration(
    commandName: "import", abstract: "Read the records of files into models.",
    discussion: """
      Examples: storecli import people.csv --model Person --upsert
      storecli import Artist.ndjson Album.ndjson Track.ndjson
      Reads CSV or TSV with a header, NDJSON, and one JSON array or object, in UTF-8 or UTF-16. \
      Everything is one transaction unless --batch is given, and references are checked at its \
      end: a record may come before the one that it refers to, in the same file or another. With \
      --on-error skip or collect, such records are kept in memory until then. Values of fields \
      that the database computes are compared with what it computes, and a record is refused \
      where they differ.
      Before a transaction begins, a pipe is read to its end into a temporary file. Ctrl-C and \
      SIGTERM stop the running statement, roll its transaction back and say what is committed. A \
      second one ends at once, SIGTERM after a second at the latest; then nothing is said, and \
      FILE.PID.partial may stay beside the file of rejects.
      """)

  @Argument(
    help: ArgumentHelp("The files, - for standard input.", valueName: "file"), completion: .file())
  var paths: [String]

  @Option(
    help: "The model; by default, the name of each file without its ending.",
    completion: Completion.model)
  var model: String?

  @Option(
    help: ArgumentHelp(
      "csv, tsv, ndjson or json; by default, decided from the file.", valueName: "format"))
  var format: InputFormat?

  @Option(
    help: ArgumentHelp("What to do with a bad record, stop, skip or collect.", valueName: "what"))
  var onError = ErrorPolicy.stop

  @Option(help: ArgumentHelp("Where collect writes bad records.", valueName: "file"))
  var rejects: String?

  @Flag(help: "Update the record if the key exists.")
  var upsert = false

  @Option(
    help: ArgumentHelp(
      "The field for a name in the file; repeat for others.", valueName: "name=field"))
  var map: [String] = []

  @Flag(help: "Ignore unknown names in the file, and computed fields.")
  var ignoreExtra = false

  @Option(help: ArgumentHelp("The CSV cell that means null.", valueName: "text"))
  var null: String?

  @Flag(help: "Remove the apostrophe that --escape-formulas wrote before text in CSV and TSV.")
  var unescapeFormulas = false

  @Option(
    help: ArgumentHelp("What separates CSV cells; a comma by default.", valueName: "character"))
  var delimiter: String?

  @Option(help: ArgumentHelp("Records in one transaction; all by default.", valueName: "n"))
  var batch: Int?

  @OptionGroup var write: WriteOptions
  @OptionGroup(title: "Common options") var options: GlobalOptions

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
      throw ValidationError("--rejects takes the name of a file, not -.")
    }
    guard paths.count == 1 || model == nil else {
      throw ValidationError("--model goes with one file; several files are named after models.")
    }
    guard paths.count == 1 || onError != .collect else {
      throw ValidationError("--on-error collect goes with one file.")
    }
    guard model != nil || !paths.contains("-") else {
      throw ValidationError("--model is needed for standard input.")
    }
  }

  /// The model of each file.
  private var models: [String] {
    model.map { [$0] }
      ?? paths.map { path in
        let name = String(path.split(separator: "/").last ?? "")
        return name.lastIndex(of: ".").map { String(name[..<$0]) } ?? name
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
    let (opened, schemas) = try open(context)
    var reading = RecordInput.Options()
    reading.format = format
    reading.delimiter = delimiterByte
    reading.ignoresExtra = ignoreExtra
    reading.mayCollect = true
    reading.nullText = self.null
    reading.formulas = unescapeFormulas ? .escaped : .asStored
    for pair in map {
      let cut = pair.lastIndex(of: "=") ?? pair.endIndex
      reading.fieldNames[String(pair[..<cut])] = String(pair[cut...].dropFirst())
    }
    let plan = Importing.Plan(
      isUpsert: upsert, stopsAtError: onError == .stop, batchCount: batch, isDryRun: change.dryRun)
    reading.readsAhead = plan.isOneTransaction
    Interruption.await()
    let sources = try zip(paths, schemas).map { path, schema in
      Importing.Source(
        input: try RecordInput(
          path: path, schema: schema, options: reading, from: opened.inputs),
        schema: schema)
    }
    // A dry run counts the rejects and writes no file.
    let rejects =
      onError == .collect && !change.dryRun
      ? RejectsFile(
        path: self.rejects ?? RejectsFile.path(for: paths[0], model: models[0]),
        headerBytes: sources[0].input.headerBytes,
        refusing: opened.location.storePaths + [paths[0]]) : nil
    var importing = Importing(
      sources: sources, store: opened.store, rejects: rejects, console: context.console,
      plan: plan)
    defer { context.warn(of: importing.warned) }
    return try importing.run()
  }

  /// The store, and the model of each file.
  private func open(
    _ context: CommandContext
  ) throws -> (opened: OpenedStore, schemas: [ModelSchema]) {
    let names = models
    do {
      let others = Array(names.dropFirst())
      let (opened, _, _) = try context.openForWriting(write, model: names[0], and: others) {
        looked, _ in
        for name in others { _ = try looked.writableModel(named: name, write) }
      }
      return (opened, try names.map { try opened.writableModel(named: $0, write) })
    } catch var error as CommandError where model == nil && error.code == "unknownModel" {
      guard paths.count == 1 else { throw error }
      error.hint = "add --model MODEL; without it, the file's name is the model's"
      throw error
    }
  }
}
