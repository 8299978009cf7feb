import ModelStore
import RecordFormats

/// A CSV, TSV, NDJSON or JSON input whose head was read: its format, its reader and its header.
struct OpenedInput {
  let format: InputFormat
  var csv: CSVReader?
  var json: JSONRecordReader?
  /// The names of the columns of CSV and TSV.
  let header: [String]
  /// The first line of CSV or TSV, unchanged, without its line end.
  let headerBytes: [UInt8]
  /// How many columns at the beginning are those of ``RejectMark``.
  let markCount: Int

  /// - Throws: ``CommandError`` that names the path, when it cannot be opened, and for options that
  ///   its format does not have.
  init(path: String, options: RecordInput.Options, from inputs: InputFiles) throws {
    do {
      let bytes = try options.readsAhead ? inputs.readAhead(path) : inputs.source(path)
      let source = SniffedSource(try bytes.inUTF8(from: options.encoding))
      let name = CompressedFile.uncompressedName(of: path)
      // A file named .json may hold one text or lines, and is JSON even if its content does not
      // show it.
      let fallback = name.lowercased().hasSuffix(".json") ? InputFormat.json : .csv
      format =
        try options.format ?? Self.format(ofName: name) ?? source.sniff(otherwise: fallback)
      try Self.check(options, for: format)
      switch format {
      case .csv:
        csv = CSVReader(
          source: source.replayed, delimiter: options.delimiter ?? UInt8(ascii: ","))
      case .tsv:
        csv = CSVReader(source: source.replayed, delimiter: UInt8(ascii: "\t"), quoting: .none)
      case .ndjson: json = JSONRecordReader(source: source.replayed, framing: .lines)
      case .json: json = JSONRecordReader(source: source.replayed, framing: .array)
      }
      var header = try csv?.readTexts() ?? []
      if format == .tsv { header = try header.map { try RecordInput.unescaped($0) ?? "" } }
      if options.formulas == .escaped { header = header.map(FormulaText.unescaped) }
      markCount = Array(header.prefix(2)) == RejectMark.names ? 2 : 0
      headerBytes = csv?.recordBytes(fromField: markCount) ?? []
      self.header = header
    } catch {
      throw CommandError(error).naming(path)
    }
  }

  /// The format that the file name says.
  private static func format(ofName path: String) -> InputFormat? {
    let names: [(suffix: String, format: InputFormat)] = [
      (".csv", .csv), (".tsv", .tsv), (".ndjson", .ndjson), (".jsonl", .ndjson),
    ]
    return names.first { path.lowercased().hasSuffix($0.suffix) }?.format
  }

  /// Refuses options without effect for the format.
  private static func check(
    _ options: RecordInput.Options, for format: InputFormat
  ) throws(CommandError) {
    let isDelimited = format == .csv || format == .tsv
    guard options.delimiter == nil || format == .csv else {
      throw CommandError.usage(
        "--delimiter is for CSV; this input is read as \(format.rawValue).",
        hint: "add --format csv")
    }
    guard options.formulas == .asStored || isDelimited else {
      throw CommandError.usage(
        "--unescape-formulas is for CSV and TSV; this input is read as \(format.rawValue).")
    }
    for (option, isGiven) in [
      ("--null", options.nullText != nil), ("--empty-null", options.emptyIsNull),
    ] where isGiven && !isDelimited {
      throw CommandError.usage(
        "\(option) is for CSV and TSV; this input is read as \(format.rawValue), which has null.")
    }
  }
}
