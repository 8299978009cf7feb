import ArgumentParser
import RecordFormats

/// The options of every command: where the database is and how to write the result.
struct GlobalOptions: ParsableArguments {
  @Option(
    name: [.customShort("d"), .customLong("db")],
    help: ArgumentHelp("The database file.", valueName: "path"), completion: .file())
  var database: String?

  @Flag(
    help: "All members of the file's group share the database: accept files that they create.")
  var sharedWithGroup = false

  @Option(
    name: .shortAndLong,
    help: ArgumentHelp("How to write the result; see storecli help formats.", valueName: "format"))
  var output: OutputFormat?

  @Flag(help: "Short for -o json.")
  var json = false

  @Flag(help: "Short for -o ndjson.")
  var ndjson = false

  @Flag(help: "Short for -o csv.")
  var csv = false

  @Option(
    help: ArgumentHelp(
      "Only these fields, in this order; put a name with a comma in double quotes.",
      valueName: "a,b"),
    completion: Completion.columns)
  var fields: String?

  @Flag(help: "Begin plain output with the column names.")
  var header = false

  @Flag(
    name: [.customShort("0"), .customLong("nul")],
    help: "Plain output with values as stored, each with a NUL behind it.")
  var nul = false

  @Flag(help: "In csv, tsv and plain, write an apostrophe before text that begins like a formula.")
  var escapeFormulas = false

  @Option(help: ArgumentHelp("When to use colour.", valueName: "when"))
  var color: ColourPolicy.Choice?

  @Flag(help: "Print long output at once, without a pager.")
  var noPager = false

  @Flag(name: .shortAndLong, help: "Print data and errors only.")
  var quiet = false

  @Flag(name: .shortAndLong, help: "Also print which database was found and what is run.")
  var verbose = false

  /// The options of a quiet read, without parsing words. In an initializer, the assignments would
  /// define the options and not set them.
  static func reading(_ database: String?) -> GlobalOptions {
    var options = GlobalOptions()
    options.database = database
    options.sharedWithGroup = false
    options.output = nil
    options.json = false
    options.ndjson = false
    options.csv = false
    options.fields = nil
    options.header = false
    options.nul = false
    options.escapeFormulas = false
    options.color = nil
    options.noPager = false
    options.quiet = true
    options.verbose = false
    return options
  }

  func validate() throws {
    guard [json, ndjson, csv, output != nil].count(where: { $0 }) <= 1 else {
      throw ValidationError("Choose one of -o, --json, --ndjson and --csv.")
    }
    guard !nul || [nil, .plain].contains(explicitFormat) else {
      throw ValidationError("-0 writes plain output; leave out the other format.")
    }
    guard !nul || !escapeFormulas else {
      throw ValidationError("-0 writes values as stored; leave out --escape-formulas.")
    }
    guard !escapeFormulas || [nil, .csv, .tsv, .plain].contains(format) else {
      throw ValidationError("--escape-formulas goes with -o csv, -o tsv and -o plain.")
    }
    guard !(quiet && verbose) else {
      throw ValidationError("Choose one of --quiet and --verbose.")
    }
    guard fields.map({ CommaList($0).isClosed }) ?? true else {
      throw ValidationError("--fields has an opening quote without a closing one.")
    }
    guard fieldNames?.allSatisfy({ !$0.isEmpty }) ?? true else {
      throw ValidationError("--fields takes names separated by commas.")
    }
  }

  /// The format that was asked for, if any.
  var format: OutputFormat? { nul ? .plain : explicitFormat }

  private var explicitFormat: OutputFormat? {
    if json { return .json }
    if ndjson { return .ndjson }
    return csv ? .csv : output
  }

  /// The form of errors: JSON where the output is JSON.
  var errorFormat: CommandError.Format {
    format == .json || format == .ndjson ? .json : .text
  }

  var loudness: Console.Loudness {
    if quiet { return .quiet }
    return verbose ? .verbose : .usual
  }

  /// The options of a command of a session, whose own options these are: they apply where the
  /// command does not say.
  func given(to command: any LeafCommand) -> GlobalOptions {
    var given = command.options
    // For a command that opens the file itself.
    given.database = given.database ?? database
    given.sharedWithGroup = given.sharedWithGroup || sharedWithGroup
    if given.format == nil, command.hasData || errorFormat == .json { given.output = format }
    given.header = given.header || header && command.hasData
    given.color = given.color ?? color
    if !given.quiet, !given.verbose { (given.quiet, given.verbose) = (quiet, verbose) }
    return given
  }

  /// The names of `--fields`; nil when all are wanted.
  var fieldNames: [String]? { fields.map { CommaList($0).texts } }
}

extension OutputFormat: ExpressibleByArgument {}

extension ColourPolicy.Choice: ExpressibleByArgument {}
