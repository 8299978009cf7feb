import ArgumentParser
import ModelStore
import RecordFormats

/// The options about what an input holds, and what of it is imported.
struct InputOptions: ParsableArguments {
  @Option(
    help: ArgumentHelp(
      "csv, tsv, ndjson or json; by default, decided from the file.", valueName: "format"))
  var format: InputFormat?

  @Option(
    help: ArgumentHelp(
      "The field for a name in the file; repeat for others.", valueName: "name=field"))
  var map: [String] = []

  @Option(
    help: ArgumentHelp(
      "Set a field to an SQL expression over the names in the file; repeat for others.",
      valueName: "field=expression"))
  var set: [String] = []

  @Option(
    name: .customLong("where"),
    help: ArgumentHelp(
      "Only records that meet this, after --map and --set.", valueName: "predicate"),
    completion: Completion.field)
  var predicate: String?

  @Flag(help: "Ignore unknown names in the file, and computed fields.")
  var ignoreExtra = false

  @Option(
    help: ArgumentHelp(
      "The field that takes what has unknown names, as one JSON object.", valueName: "field"))
  var rest: String?

  @Option(help: ArgumentHelp("The CSV cell that means null.", valueName: "text"))
  var null: String?

  @Flag(help: "Read every empty CSV or TSV cell as null, also one in quotes.")
  var emptyNull = false

  @Option(
    help: ArgumentHelp(
      "utf-8, utf-16, utf-16le, utf-16be, latin1 or windows-1252.", valueName: "name"))
  var encoding: TextEncoding?

  @Flag(help: "Remove the apostrophe that --escape-formulas wrote before text in CSV and TSV.")
  var unescapeFormulas = false

  @Option(
    help: ArgumentHelp("What separates CSV cells; a comma by default.", valueName: "character"))
  var delimiter: String?

  func validate() throws {
    guard map.allSatisfy({ $0.contains("=") }) else {
      throw ValidationError("--map takes NAME=FIELD.")
    }
    guard set.allSatisfy({ $0.contains("=") && $0.first != "=" }) else {
      throw ValidationError("--set takes FIELD=EXPRESSION.")
    }
    guard delimiter == nil || delimiterByte != nil else {
      throw ValidationError("--delimiter takes one ASCII character, or tab.")
    }
    guard rest == nil || !ignoreExtra else {
      throw ValidationError("Choose one of --rest and --ignore-extra.")
    }
  }

  private var delimiterByte: UInt8? {
    if delimiter == "tab" { return UInt8(ascii: "\t") }
    guard let delimiter, delimiter.utf8.count == 1, let byte = delimiter.utf8.first, byte < 0x80,
      ![UInt8(ascii: "\""), UInt8(ascii: "\n"), UInt8(ascii: "\r")].contains(byte)
    else { return nil }
    return byte
  }

  /// How to read the input, before its model is known.
  func reading() -> RecordInput.Options {
    var reading = RecordInput.Options()
    reading.format = format
    reading.delimiter = delimiterByte
    reading.ignoresExtra = ignoreExtra
    reading.restField = rest
    reading.mayCollect = true
    reading.nullText = self.null
    reading.emptyIsNull = emptyNull
    reading.encoding = encoding
    reading.formulas = unescapeFormulas ? .escaped : .asStored
    for pair in map {
      let cut = pair.lastIndex(of: "=") ?? pair.endIndex
      reading.fieldNames[String(pair[..<cut])] = String(pair[cut...].dropFirst())
    }
    return reading
  }
}

extension TextEncoding: ExpressibleByArgument {
  /// The encoding that a person names; nil for an unknown name.
  public init?(argument: String) { self.init(name: argument) }
}
