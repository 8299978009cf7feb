import ArgumentParser
import ModelStore

/// The records of a CSV, NDJSON or JSON input as values of one model, one at a time, strictly: an
/// unknown name, a value of the wrong kind and a broken line are errors, never guesses.
final class RecordInput {
  /// The form of an input.
  enum Format: String, CaseIterable, ExpressibleByArgument, Sendable {
    case csv, ndjson, json
  }

  /// How to read it.
  struct Options {
    /// nil: by the file's name, otherwise by its first character.
    var format: Format?
    var delimiter = UInt8(ascii: ",")
    /// Fields by the names they have in the input.
    var fieldNames: [String: String] = [:]
    /// Whether names that are no field are passed over.
    var ignoresExtra = false
    /// The CSV cell that means null, besides an empty one without quotes.
    var nullText: String?
  }

  let format: Format
  /// The names in the first line of a CSV input.
  private(set) var header: [String] = []
  private let schema: ModelSchema
  private let options: Options
  private var csv: CSVReader?
  private var json: JSONRecordReader?
  /// The field of each CSV column; nil where one is passed over.
  private var csvFields: [FieldSchema?] = []

  /// Opens the input and reads the head of it.
  ///
  /// - Throws: ``CommandError`` when it cannot be opened, and for a CSV header that names no field
  ///   of the model.
  init(path: String, schema: ModelSchema, options: Options, refusing storePaths: [String]) throws {
    self.schema = schema
    self.options = options
    do {
      let source = SniffedSource(try ByteSource(path: path, refusing: storePaths))
      format = try options.format ?? Self.format(ofName: path) ?? source.sniff()
      switch format {
      case .csv:
        csv = CSVReader(source: source.replayed, delimiter: options.delimiter)
        header = try csv?.readTexts() ?? []
      case .ndjson: json = JSONRecordReader(source: source.replayed, framing: .lines)
      case .json: json = JSONRecordReader(source: source.replayed, framing: .array)
      }
    } catch {
      throw CommandError(error).naming(path)
    }
    csvFields = try header.map { try field(named: $0) }
    try checkDuplicates()
  }

  /// The values of the next record by field; nil at the end. A field that is missing is left out.
  ///
  /// - Throws: ``InputError``, and ``StoreError`` with code `invalidValue` or `unknownField` for a
  ///   record that does not fit; after those, and where the error says so, the next record can be
  ///   read.
  func next() throws -> [String: SQLValue]? {
    if try csv?.advance() == true { return try csvValues() }
    if let value = try json?.readRecord() { return try values(of: value) }
    return nil
  }

  /// Where the current record begins.
  var position: InputPosition { csv?.position ?? json?.position ?? .start }

  /// The current record as it stands in the input, on one line for JSON.
  var recordBytes: [UInt8] {
    // A line end in JSON stands between tokens, where a space does as well.
    csv?.recordBytes ?? (json?.recordBytes ?? []).map { $0 == 0x0A || $0 == 0x0D ? 0x20 : $0 }
  }

  private static func format(ofName path: String) -> Format? {
    let names: [(suffix: String, format: Format)] = [
      (".csv", .csv), (".ndjson", .ndjson), (".jsonl", .ndjson), (".json", .json),
    ]
    return names.first { path.lowercased().hasSuffix($0.suffix) }?.format
  }

  /// The field that the input calls `name`; nil when it is to be passed over.
  private func field(named name: String) throws -> FieldSchema? {
    let fieldName = options.fieldNames[name] ?? name
    guard let field = schema.field(named: fieldName) else {
      if options.ignoresExtra { return nil }
      let near = NearMiss.suggestions(for: fieldName, among: schema.fields.map(\.name))
      throw CommandError(
        .usage, code: "unknownField",
        "The input names \(fieldName), which is no field of \(schema.name)"
          + CommandError.meant(near),
        hint: "add --map \(Shell.quoted(name))=FIELD or --ignore-extra", model: schema.name,
        field: fieldName)
    }
    guard field.generated == nil else {
      if options.ignoresExtra { return nil }
      throw CommandError(
        .usage, code: "unknownField",
        "\(schema.name).\(fieldName) is computed by the database and cannot be imported.",
        hint: "add --ignore-extra", model: schema.name, field: fieldName)
    }
    return field
  }

  private func checkDuplicates() throws {
    var seen: Set<String> = []
    for field in csvFields.compactMap(\.self) where !seen.insert(field.name).inserted {
      throw CommandError.usage(
        "Two columns of the input are \(field.name).", model: schema.name, field: field.name)
    }
  }

  private func csvValues() throws -> [String: SQLValue] {
    var values: [String: SQLValue] = [:]
    values.reserveCapacity(csvFields.count)
    for (index, field) in csvFields.enumerated() {
      guard let csv, let field else { continue }
      if csv.isMissing(at: index) {
        if field.isOptional { values[field.name] = .null }
        continue
      }
      let text = csv.text(at: index)
      if text == options.nullText, !csv.isQuoted(at: index) {
        values[field.name] = .null
      } else if field.type == .blob, let bytes = Base64.decoded(text) {
        values[field.name] = .blob(bytes)
      } else {
        values[field.name] = try FieldText.parse(text, for: field)
      }
    }
    return values
  }

  private func values(of record: JSONValue) throws -> [String: SQLValue] {
    guard case .object(let members) = record else {
      throw StoreError(.invalidValue, "A record must be a JSON object.", model: schema.name)
    }
    var values: [String: SQLValue] = [:]
    values.reserveCapacity(members.count)
    for member in members {
      guard let field = try field(named: member.name) else { continue }
      values[field.name] = try member.value.stored(in: field)
    }
    return values
  }
}

/// A source whose first bytes may be looked at before they are read.
private final class SniffedSource {
  private let source: ByteSource
  private var head: [UInt8] = []

  init(_ source: ByteSource) {
    self.source = source
  }

  /// Guesses the format by the first character that is no white space.
  func sniff() throws(InputError) -> RecordInput.Format {
    while true {
      let first = head.first { ![0x20, 0x09, 0x0A, 0x0D, 0xEF, 0xBB, 0xBF].contains($0) }
      switch first {
      case UInt8(ascii: "["): return .json
      case UInt8(ascii: "{"): return .ndjson
      case .some: return .csv
      case nil: break
      }
      var chunk = [UInt8](repeating: 0, count: 4096)
      let count = try chunk.withUnsafeMutableBufferPointer { bytes throws(InputError) in
        try source.read(UnsafeMutableRawBufferPointer(bytes))
      }
      if count == 0 { return .csv }
      head += chunk[..<count]
    }
  }

  /// All bytes of the source, those already seen included.
  var replayed: ByteSource {
    ByteSource { buffer throws(InputError) in
      guard !self.head.isEmpty else { return try self.source.read(buffer) }
      let count = min(self.head.count, buffer.count)
      buffer.copyBytes(from: self.head[..<count])
      self.head.removeFirst(count)
      return count
    }
  }
}
