import ArgumentParser
import ModelStore
import RecordFormats

/// The records of a CSV, TSV, NDJSON or JSON input as values of one model, one at a time, strictly:
/// an unknown name, a value of the wrong kind and a broken line are errors, never guesses.
final class RecordInput {
  /// The options of reading.
  struct Options {
    /// nil: by the file's name, otherwise by its first line.
    var format: InputFormat?
    /// What separates CSV cells; nil for a comma.
    var delimiter: UInt8?
    /// Fields by the names they have in the input.
    var fieldNames: [String: String] = [:]
    /// Whether the command can leave out bad records.
    var mayCollect = false
    /// Whether unknown names are ignored.
    var ignoresExtra = false
    /// Whether an input that may keep its reader waiting, such as a pipe, is read to its end first.
    var readsAhead = false
    /// The CSV cell that means null, in addition to an empty cell without quotes.
    var nullText: String?
    /// Whether CSV and TSV texts have the mark of ``FormulaText``.
    var formulas = OutputFormat.Options.Formulas.asStored
  }

  let format: InputFormat
  /// The first line of a CSV or TSV input, unchanged, without its line end.
  private(set) var headerBytes: [UInt8] = []
  private var header: [String] = []
  /// Records that were read, with the present one.
  private var recordCount = 0
  private let path: String
  private let schema: ModelSchema
  private let options: Options
  private var csv: CSVReader?
  private var json: JSONRecordReader?
  /// The field of each CSV column; nil for an ignored column.
  private var csvFields: [InputField?] = []
  /// The fields of the members of the last JSON record, in its order.
  private var members: [(name: String, field: InputField?)] = []
  /// The sets of fields of records so far.
  private var fieldSets: [[Int]: InputFields] = [:]

  /// Opens the input and reads the head of it.
  ///
  /// - Throws: ``CommandError`` when it cannot be opened, for options that its format does not
  ///   have, and for a CSV header that names no field of the model.
  init(path: String, schema: ModelSchema, options: Options, from inputs: InputFiles) throws {
    self.path = path
    self.schema = schema
    self.options = options
    do {
      let bytes = try options.readsAhead ? inputs.readAhead(path) : inputs.source(path)
      let source = SniffedSource(try bytes.inUTF8())
      // A file named .json may hold one text or lines, and is JSON even if its content does not
      // show it.
      let fallback = path.lowercased().hasSuffix(".json") ? InputFormat.json : .csv
      format =
        try options.format ?? Self.format(ofName: path) ?? source.sniff(otherwise: fallback)
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
      header = try csv?.readTexts() ?? []
      headerBytes = csv?.recordBytes ?? []
      if format == .tsv { header = try header.map { try Self.unescaped($0) ?? "" } }
      if options.formulas == .escaped { header = header.map(FormulaText.unescaped) }
    } catch {
      throw CommandError(error).naming(path)
    }
    try checkMapping()
    csvFields = try header.map { try field(ofColumn: $0) }
    try checkDuplicates()
  }

  /// The next record; nil at the end. A field that is missing is left out.
  ///
  /// - Throws: ``InputError``, and ``StoreError`` with code `invalidValue` or `unknownField` for a
  ///   record that does not fit; after those, and where the error says so, the next record can be
  ///   read.
  func next() throws -> InputRecord? {
    recordCount += 1
    if try csv?.advance() == true, let csv { return try csvRecord(csv) }
    if let value = try json?.readRecord() { return try record(of: value) }
    return nil
  }

  /// Where the current record is: the line on which it begins, or in a JSON text its number.
  var line: Int {
    format == .json ? recordCount : (csv?.position ?? json?.position ?? .start).line
  }

  /// What ``line`` counts, with its value.
  func place(_ line: Int) -> String { "\(format == .json ? "record" : "line") \(line)" }

  /// The current record, unchanged; JSON is put on one line, without surrounding white space.
  var recordBytes: [UInt8] {
    if let csv { return csv.recordBytes }
    // A line end in JSON is between tokens, where a space means the same.
    var bytes = (json?.recordBytes ?? []).map { $0 == 0x0A || $0 == 0x0D ? 0x20 : $0 }
    while bytes.last == 0x20 { bytes.removeLast() }
    return bytes
  }

  /// Refuses options without effect for the format.
  private static func check(_ options: Options, for format: InputFormat) throws(CommandError) {
    guard options.delimiter == nil || format == .csv else {
      throw CommandError.usage(
        "--delimiter is for CSV; this input is read as \(format.rawValue).",
        hint: "add --format csv")
    }
    guard options.formulas == .asStored || format == .csv || format == .tsv else {
      throw CommandError.usage(
        "--unescape-formulas is for CSV and TSV; this input is read as \(format.rawValue).")
    }
    guard options.nullText == nil || format == .csv || format == .tsv else {
      throw CommandError.usage(
        "--null is for CSV and TSV; this input is read as \(format.rawValue), which has null.")
    }
  }

  private static let fieldSetCountMax = 64

  /// The errors for which a single record can be refused.
  static let refusals: Set<StoreError.Code> = [.rejected, .invalidValue, .unknownField]

  /// The error that ends the reading or writing of this input at the record on `line`, saying
  /// where. One that is not about a record stays as it is.
  func refusal(_ error: any Error, line: Int) -> any Error {
    switch error {
    case let error as InputError: return CommandError(error).naming(path)
    case var error as StoreError where Self.refusals.contains(error.code):
      error.model = schema.name
      var stopped = CommandError(error)
      stopped.exitCode = .rejected
      stopped.message = ImportTally.reason(error, at: place(line))
      if stopped.message.last.map(".?".contains) != true { stopped.message += "." }
      stopped.details = []
      if error.code == .unknownField, let field = error.field {
        stopped.hint = Self.hint(forUnknown: field)
      } else if let name = error.field, schema.field(named: name)?.generated != nil {
        stopped.hint = "add --ignore-extra to leave computed fields unread"
      } else if let command = typeCommand(for: error) {
        let others = options.mayCollect ? ", or add --on-error collect to import the others" : ""
        stopped.hint =
          failsMostly(as: command) ? "storecli \(command)" : "correct \(place(line))\(others)"
      }
      return stopped.naming(path)
    default: return error
    }
  }

  /// Whether more than half of the records fail for the reason of the first one. One wrong value is
  /// no reason to change the type of a field.
  private func failsMostly(as command: String) -> Bool {
    guard recordCount == 1 else { return false }
    var (failed, read) = (1, 1)
    while read < 20 {
      do {
        guard try next() != nil else { break }
      } catch {
        guard typeCommand(for: error) == command else { break }
        failed += 1
      }
      read += 1
    }
    return failed * 2 > read
  }

  /// The command that lets a field take a value that only its declared type refuses, without the
  /// program's name; nil for another error.
  func typeCommand(for error: any Error) -> String? {
    guard let error = error as? StoreError, error.code == .invalidValue, let name = error.field,
      schema.field(named: name)?.mayBeAny == true
    else { return nil }
    return "adopt --type \(Shell.quoted("\(schema.name).\(name)=any"))"
  }

  /// The format that the file name says.
  private static func format(ofName path: String) -> InputFormat? {
    let names: [(suffix: String, format: InputFormat)] = [
      (".csv", .csv), (".tsv", .tsv), (".ndjson", .ndjson), (".jsonl", .ndjson),
    ]
    return names.first { path.lowercased().hasSuffix($0.suffix) }?.format
  }

  /// The field that the input calls `name`; nil if it is ignored.
  ///
  /// - Throws: ``StoreError`` with code `unknownField`.
  private func field(named name: String) throws(StoreError) -> InputField? {
    let fieldName = options.fieldNames[name] ?? name
    guard let index = schema.fieldIndex(named: fieldName) else {
      if options.ignoresExtra { return nil }
      let near = NearMiss.suggestions(for: fieldName, among: schema.fields.map(\.name))
      throw StoreError(
        .unknownField,
        "The input names \(fieldName), but \(schema.name) has no such field"
          + CommandError.meant(near), model: schema.name, field: fieldName)
    }
    let field = InputField(schema.fields[index], at: index)
    return field.isComputed && options.ignoresExtra ? nil : field
  }

  /// The field of a column, before any record was read.
  private func field(ofColumn name: String) throws -> InputField? {
    do {
      return try field(named: name)
    } catch {
      var wrong = CommandError(error)
      wrong.hint = hint(forColumn: name)
      throw wrong
    }
  }

  private func hint(forColumn name: String) -> String {
    if format == .csv, header.count == 1 {
      if name.contains(";") { return "add --delimiter ';'" }
      if name.contains("\t") { return "add --delimiter tab" }
    }
    return Self.hint(forUnknown: name)
  }

  /// The hint for an unknown name.
  static func hint(forUnknown name: String) -> String {
    "add --map \(Shell.quoted(name))=FIELD or --ignore-extra"
  }

  /// Refuses a mapping to an unknown field, or from a column that the input does not have.
  private func checkMapping() throws {
    for (name, fieldName) in options.fieldNames.sorted(by: { $0.key < $1.key }) {
      _ = try schema.requiredField(named: fieldName)
      guard csv != nil, !header.contains(name) else { continue }
      throw CommandError.usage(
        "The input has no column \(name)"
          + CommandError.meant(NearMiss.suggestions(for: name, among: header)),
        model: schema.name, field: fieldName)
    }
  }

  private func checkDuplicates() throws {
    var seen: Set<String> = []
    for field in csvFields.compactMap({ $0?.schema }) where !seen.insert(field.name).inserted {
      throw CommandError.usage(
        "Two columns of the input map to \(field.name).", model: schema.name, field: field.name)
    }
  }

  private func csvRecord(_ csv: CSVReader) throws -> InputRecord {
    var places: [Int] = []
    var row: [SQLValue] = []
    var computed: [ComputedValue] = []
    places.reserveCapacity(csvFields.count)
    row.reserveCapacity(csvFields.count)
    for index in csvFields.indices {
      guard let field = csvFields[index] else { continue }
      if format == .csv, csv.isMissing(at: index) {
        // An empty cell of a computed field has no value to compare.
        if field.isOptional, !field.isComputed {
          places.append(field.place)
          row.append(.null)
        }
        continue
      }
      let text = try text(at: index, of: csv, for: field)
      guard !field.isComputed else {
        computed.append(
          ComputedValue(field: field.schema, form: text.map { .cell($0) } ?? .null))
        continue
      }
      places.append(field.place)
      row.append(try text.map { try field.value(ofCell: $0) } ?? .null)
    }
    return InputRecord(fields: fields(at: places), row: row, computed: computed)
  }

  /// The fields of a record. Records with the same fields share the value.
  private func fields(at places: [Int]) -> InputFields {
    if let known = fieldSets[places] { return known }
    // Each record may lack other fields.
    if fieldSets.count == Self.fieldSetCountMax { fieldSets = [:] }
    let made = InputFields(names: places.map { schema.fields[$0].name }, places: places)
    fieldSets[places] = made
    return made
  }

  /// The text of a cell; nil for null.
  private func text(
    at index: Int, of csv: CSVReader, for field: InputField
  ) throws(StoreError) -> String? {
    let cell = csv.text(at: index)
    if let null = options.nullText, cell == null, !csv.isQuoted(at: index) { return nil }
    let written = try text(of: cell, for: field.schema)
    return options.formulas == .escaped ? written.map(FormulaText.unescaped) : written
  }

  /// What a cell holds; nil for null.
  private func text(
    of cell: String, for field: @autoclosure () -> FieldSchema
  ) throws(StoreError) -> String? {
    guard format == .tsv else { return cell }
    do {
      return try Self.unescaped(cell)
    } catch {
      var named = error
      named.message = "\(field().name): \(error.message)"
      named.field = field().name
      throw named
    }
  }

  /// What a cell of TSV means; nil for null.
  ///
  /// - Throws: ``StoreError`` with code `invalidValue` for a backslash that begins no escape.
  private static func unescaped(_ cell: String) throws(StoreError) -> String? {
    do {
      return try TSVText.unescaped(cell)
    } catch {
      throw StoreError(.invalidValue, error.description)
    }
  }

  private func record(of value: JSONValue) throws -> InputRecord {
    guard case .object(let members) = value else {
      throw StoreError(.invalidValue, "A record must be a JSON object.", model: schema.name)
    }
    var places: [Int] = []
    var row: [SQLValue] = []
    var computed: [ComputedValue] = []
    places.reserveCapacity(members.count)
    row.reserveCapacity(members.count)
    for (index, member) in members.enumerated() {
      guard let field = try field(ofMember: index, named: member.name) else { continue }
      guard !field.isComputed else {
        computed.append(ComputedValue(field: field.schema, form: .json(member.value)))
        continue
      }
      guard !places.contains(field.place) else {
        throw StoreError(
          .invalidValue, "Two members of the object map to \(field.schema.name).",
          model: schema.name, field: field.schema.name)
      }
      places.append(field.place)
      row.append(try field.value(of: member.value))
    }
    return InputRecord(fields: fields(at: places), row: row, computed: computed)
  }

  /// The field of a JSON member; nil if it is ignored. Most records have the same members in the
  /// same order.
  private func field(ofMember index: Int, named name: String) throws(StoreError) -> InputField? {
    if index < members.count, members[index].name == name { return members[index].field }
    let field = try field(named: name)
    members.removeSubrange(min(index, members.count)...)
    if index == members.count { members.append((name, field)) }
    return field
  }
}

extension FieldSchema {
  /// Whether a declaration that SQLite does not enforce, or stored values alone, gave the field its
  /// type. The type `any` then takes what the field refuses.
  fileprivate var mayBeAny: Bool {
    type != .any && (declaredType?.isEmpty == true || asDeclared != nil)
  }
}

extension InputFormat: ExpressibleByArgument {}
