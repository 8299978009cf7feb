import ArgumentParser
import ModelStore
import RecordFormats

/// `export`: records as a file that `import` reads again.
struct ExportCommand: LeafCommand {
  static let configuration = CommandConfiguration(
    commandName: "export", abstract: "Write records to a file or to standard output.",
    discussion: """
      Examples: storecli export Track --where 'genreID = 1' --to rock.csv
      storecli export Track -o csv | head -n 3
      storecli export --all backup
      The format is that of -o. Without -o, the ending of the file name decides, else ndjson. The \
      file appears when it is complete: Ctrl-C and SIGTERM leave an old file as it is. A second \
      signal ends the command at once, SIGTERM after a second at the latest; then FILE.PID.partial \
      may remain.
      --all writes one NDJSON file for each model and catalog.json, which has their schemas and \
      content hashes. storecli import restores the directory into a store with these models.
      Spreadsheets run text such as =cmd as a formula; --escape-formulas prevents it, and import \
      --unescape-formulas restores the text.
      """)

  @Argument(help: "The model; not with --all.", completion: Completion.model)
  var model: String?

  @OptionGroup var predicate: PredicateArguments

  @Option(help: ArgumentHelp("The file; - for standard output.", valueName: "file"))
  var to = "-"

  @Option(
    name: .customLong("all"),
    help: ArgumentHelp("Write all models into a directory.", valueName: "directory"),
    completion: .directory)
  var directory: String?

  @Option(
    parsing: .unconditional,
    help: ArgumentHelp("Fields to sort by, - before a name for descending.", valueName: "a,-b"),
    completion: Completion.order)
  var sort: String?

  @OptionGroup(title: "Common options") var options: GlobalOptions

  var writesSQL: Bool { true }

  func validate() throws {
    guard (model == nil) != (directory == nil) else {
      throw ValidationError("Name one model, or a directory with --all.")
    }
    guard directory == nil || predicate.text == nil && sort == nil && to == "-" else {
      throw ValidationError("--all takes no --where, --sort or --to.")
    }
    guard directory != "-" else {
      throw ValidationError("--all writes a directory, so it cannot write to standard output.")
    }
    guard directory == nil || [nil, .ndjson].contains(options.format) else {
      throw ValidationError("--all writes NDJSON, so it takes no other format.")
    }
  }

  func run(_ context: CommandContext) throws -> ExitCode {
    if let directory { return try exportAll(to: directory, context) }
    return try exportModel(named: model ?? "", context)
  }

  private func exportModel(named model: String, _ context: CommandContext) throws -> ExitCode {
    let opened = try context.openForReading()
    let schema = try opened.model(named: model)
    try checkEnding(besides: opened.location.storePaths)
    let columns = try ResultColumns(of: schema, options, as: format, in: [])
    let query = try PredicateText(schema: schema).query(where: predicate.text, sort: sort)
    // Bytes in a stream cannot be taken back, and its reader may block the writer. For a stream,
    // Ctrl-C ends the program at once, as for standard output.
    if to != "-", !OutputFile.isStream(to) { Interruption.await() }
    let file =
      to == "-" ? nil : try OutputFile(path: to, refusing: opened.location.storePaths)
    var choices = OutputFormat.Options()
    choices.header = options.header ? .present : nil
    choices.plainEnd = options.nul ? .nul : .line
    choices.tableName = schema.table
    choices.formulas = options.escapeFormulas ? .escaped : .asStored
    if file == nil, context.console.dataTerminal.isInteractive { choices.controls = .shown }
    var writer = try format.writer(
      columns: columns.exportColumns, to: file?.sink ?? context.console.data,
      terminal: .pipe,
      options: choices)
    var count = 0
    do {
      try opened.read { reads in
        try reads.forEach(query) { (record: DynamicRecord) in
          if Interruption.isRequested { throw interruption }
          try writer.write(try columns.exportRow(of: record))
          count += 1
        }
      }
    } catch  where Interruption.explains(error) {
      throw interruption
    }
    try writer.finish()
    try file?.close()
    if let file {
      try context.console.say("\(Grouped.text(count, "record")) to \(file.path)")
    }
    return .ok
  }

  private var interruption: CommandError {
    CommandError(.interrupted, code: "interrupted", "Interrupted; \(to) is unchanged.")
  }

  /// - Parameter storePaths: The store's own files, which are refused for that reason.
  /// - Throws: ``CommandError`` for a file name with an ending that no format has.
  private func checkEnding(besides storePaths: [String]) throws {
    guard options.format == nil, let ending = unwrittenEnding,
      !FileIdentity.isSame(to, asAnyOf: storePaths)
    else { return }
    let compressing = CompressedFile(path: to).map { kind in
      let format = Self.format(ofName: CompressedFile.uncompressedName(of: to)) ?? .ndjson
      return "storecli export \(Shell.quoted(model ?? "MODEL")) -o \(format.rawValue)"
        + " | \(kind.program) > \(Shell.quoted(to))"
    }
    throw CommandError.usage(
      "\(Program.name) cannot export \(ending) files. It knows the endings "
        + "\(Self.endings.map { "." + $0 }.joined(separator: ", ")); or choose a format with -o.",
      hint: compressing ?? "storecli help formats")
  }

  /// The endings of file names that choose a format.
  private static let endings = ["csv", "tsv", "json", "ndjson", "jsonl", "sql"]

  /// The ending of the file name if no format belongs to it; nil for a name without an ending and
  /// for a pipe or device.
  private var unwrittenEnding: String? {
    let name = to.split(separator: "/").last.map { $0.lowercased() } ?? ""
    let parts = name.split(separator: ".", omittingEmptySubsequences: false)
    guard to != "-", parts.count > 1, let ending = parts.last, !ending.isEmpty,
      parts.count > 2 || parts[0] != "", !OutputFile.isStream(to)
    else { return nil }
    return Self.endings.contains(String(ending)) ? nil : String(ending)
  }

  private var format: OutputFormat {
    options.format ?? Self.format(ofName: to) ?? .ndjson
  }

  /// The format that the name of a file says; nil for other endings.
  private static func format(ofName path: String) -> OutputFormat? {
    let name = path.lowercased()
    if name.hasSuffix(".jsonl") { return .ndjson }
    let known: [OutputFormat] = [.ndjson, .json, .csv, .tsv, .sql]
    return known.first { name.hasSuffix("." + $0.rawValue) }
  }
}
