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
    /// Whether every empty cell of CSV and TSV means null, also one in quotes.
    var emptyIsNull = false
    /// The encoding; nil for UTF-8, or UTF-16 with a byte order mark.
    var encoding: TextEncoding?
    /// The field that takes the values under unknown names, as one JSON object.
    var restField: String?
    /// What sets fields instead of the input.
    var expressions: InputExpressions?
    /// Whether CSV and TSV texts have the mark of ``FormulaText``.
    var formulas = OutputFormat.Options.Formulas.asStored
  }

  let format: InputFormat
  /// The first line of a CSV or TSV input, unchanged, without its line end and the columns of
  /// ``RejectMark``.
  let headerBytes: [UInt8]
  private let header: [String]
  /// How many columns at the beginning are those of ``RejectMark``.
  private let markCount: Int
  /// Records that were read, with the present one.
  private var recordCount = 0
  private let path: String
  private let schema: ModelSchema
  private let options: Options
  private var csv: CSVReader?
  private var json: JSONRecordReader?
  /// The field of each CSV column; nil for an ignored column.
  private var csvFields: [InputField?] = []
  /// The CSV columns that belong to the field for the rest.
  private var restColumns: [Int] = []
  /// The field for the rest.
  private let rest: InputField?
  /// The fields of the members of the last JSON record, in its order.
  private var members: [(name: String, role: Role)] = []
  /// The members of the present JSON record after those of ``RejectMark``; nil if it has none.
  private var unmarkedMembers: [JSONValue.Member]?

  /// What becomes of a value of the input.
  private enum Role {
    case field(InputField)
    /// It is a part of the field for the rest.
    case rest
    case ignored

    var field: InputField? {
      if case .field(let field) = self { field } else { nil }
    }
  }

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
    let opened = try OpenedInput(path: path, options: options, from: inputs)
    (format, csv, json) = (opened.format, opened.csv, opened.json)
    (header, headerBytes, markCount) = (opened.header, opened.headerBytes, opened.markCount)
    rest = try options.restField.map { name in
      _ = try schema.requiredField(named: name)
      let index = schema.fieldIndex(named: name) ?? 0
      return InputField(schema.fields[index], at: index)
    }
    if let rest, ![.json, .text, .any].contains(rest.schema.type) || rest.isComputed {
      throw CommandError.usage(
        "--rest takes a field of JSON or text; "
          + "\(rest.schema.name) is \(rest.schema.type.rawValue).",
        model: schema.name, field: rest.schema.name)
    }
    if let rest, options.expressions?.fields.contains(where: { $0.place == rest.place }) == true {
      throw CommandError.usage(
        "--rest and --set name the same field, \(rest.schema.name).", model: schema.name,
        field: rest.schema.name)
    }
    try checkMapping()
    let roles = try header.map { try role(ofColumn: $0) }
    csvFields = roles.map(\.field)
    restColumns = roles.indices.filter { if case .rest = roles[$0] { true } else { false } }
    try checkDuplicates()
  }

  /// The next record; nil at the end. A field that is missing is left out.
  ///
  /// - Throws: ``InputError``, and ``StoreError`` with code `invalidValue` or `unknownField` for a
  ///   record that does not fit; after those, and where the error says so, the next record can be
  ///   read.
  func next() throws -> InputRecord? {
    recordCount += 1
    if try csv?.advance() == true, let csv {
      let record = try csvRecord(csv)
      guard let expressions = options.expressions else { return record }
      return try record.setting(expressions, cellValues(of: record, csv, expressions), fields(at:))
    }
    unmarkedMembers = nil
    if let value = try json?.readRecord() {
      let record = try record(of: value)
      guard let expressions = options.expressions else { return record }
      return try record.setting(expressions, memberValues(of: value, expressions), fields(at:))
    }
    return nil
  }

  /// Reads over the next record, whatever it holds.
  ///
  /// - Returns: false at the end.
  /// - Throws: ``InputError`` if the record after it cannot be found.
  func skip() throws(InputError) -> Bool {
    recordCount += 1
    do {
      if csv != nil { return try csv?.advance() == true }
      unmarkedMembers = nil
      return try json?.readRecord() != nil
    } catch {
      guard error.leavesRestReadable else { throw error }
      return true
    }
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

  /// ``recordBytes`` without what ``RejectMark`` added.
  var unmarkedRecordBytes: [UInt8] {
    get throws(OutputError) {
      if let unmarkedMembers { return Array(try JSONText.text(.object(unmarkedMembers)).utf8) }
      guard let csv, markCount > 0 else { return recordBytes }
      return csv.recordBytes(fromField: markCount) ?? csv.recordBytes
    }
  }

  /// The line for a file of rejects.
  ///
  /// - Parameter bytes: What ``unmarkedRecordBytes`` was.
  func marked(_ bytes: [UInt8], _ mark: RejectMark) throws(OutputError) -> [UInt8] {
    switch format {
    case .csv:
      return LeadingFields.csv(mark.texts, delimiter: options.delimiter ?? UInt8(ascii: ","))
        + bytes
    case .tsv: return LeadingFields.tsv(mark.texts) + bytes
    case .json, .ndjson:
      var line = Array(try JSONText.text(.object(mark.members)).utf8)
      let value = Self.value(of: bytes)
      // A record that is not an object is a member of its own; what is not JSON is its text.
      guard case .object? = value else {
        let record = value ?? .string(String(decoding: bytes, as: UTF8.self))
        let members = mark.members + [.init(RejectMark.recordName, record)]
        return Array(try JSONText.text(.object(members)).utf8)
      }
      let inside = bytes.dropFirst()
      line.removeLast()
      let isEmpty = inside.first { $0 != 0x20 && $0 != 0x09 } == UInt8(ascii: "}")
      if !isEmpty { line.append(UInt8(ascii: ",")) }
      return line + inside
    }
  }

  /// The value of JSON; nil for other bytes.
  private static func value(of bytes: [UInt8]) -> JSONValue? {
    do {
      return try JSONParser.value(of: bytes)
    } catch {
      return nil
    }
  }

  /// The first line of a file of rejects; nil for JSON.
  var markedHeaderBytes: [UInt8]? {
    switch format {
    case .csv:
      LeadingFields.csv(RejectMark.names, delimiter: options.delimiter ?? UInt8(ascii: ","))
        + headerBytes
    case .tsv: LeadingFields.tsv(RejectMark.names) + headerBytes
    case .json, .ndjson: nil
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

  /// What becomes of the values that the input calls `name`.
  ///
  /// - Throws: ``StoreError`` with code `unknownField`.
  private func role(of name: String) throws(StoreError) -> Role {
    let fieldName = options.fieldNames[name] ?? name
    guard let index = schema.fieldIndex(named: fieldName) else {
      if RejectMark.isMark(name) { return .ignored }
      if rest != nil { return .rest }
      if options.ignoresExtra || options.expressions?.uses(name) == true { return .ignored }
      let near = NearMiss.suggestions(for: fieldName, among: schema.fields.map(\.name))
      let name = fieldName.isEmpty ? "a field without a name" : fieldName
      throw StoreError(
        .unknownField,
        "The input names \(name), but \(schema.name) has no such field"
          + CommandError.meant(near), model: schema.name, field: fieldName)
    }
    let field = InputField(schema.fields[index], at: index)
    if options.expressions?.fields.contains(where: { $0.place == index }) == true {
      return .ignored
    }
    return field.isComputed && options.ignoresExtra ? .ignored : .field(field)
  }

  /// What becomes of a column, before any record was read.
  private func role(ofColumn name: String) throws -> Role {
    do {
      return try role(of: name)
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
    let own = restColumns.isEmpty ? nil : rest?.schema
    for field in csvFields.compactMap({ $0?.schema }) + [own].compactMap(\.self)
    where !seen.insert(field.name).inserted {
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
      if isEmpty(index, of: csv) {
        // An empty cell of a computed field has no value to compare.
        if field.isOptional, !field.isComputed {
          places.append(field.place)
          row.append(.null)
        }
        continue
      }
      let text = try text(at: index, of: csv, for: field.schema.name)
      guard !field.isComputed else {
        computed.append(
          ComputedValue(field: field.schema, form: text.map { .cell($0) } ?? .null))
        continue
      }
      places.append(field.place)
      row.append(try text.map { try field.value(ofCell: $0) } ?? .null)
    }
    if let rest, !restColumns.isEmpty {
      places.append(rest.place)
      row.append(
        try restText(try restColumns.map { .init(header[$0], try restValue(at: $0, of: csv)) }))
    }
    return InputRecord(fields: fields(at: places), row: row, computed: computed)
  }

  /// Whether a cell stands for no value.
  private func isEmpty(_ index: Int, of csv: CSVReader) -> Bool {
    if csv.isMissing(at: index) { return format == .csv || options.emptyIsNull }
    return options.emptyIsNull && csv.text(at: index).isEmpty
  }

  /// The value of a cell that belongs to the rest.
  private func restValue(at index: Int, of csv: CSVReader) throws(StoreError) -> JSONValue {
    try rawText(at: index, of: csv).map { .string($0) } ?? .null
  }

  /// The value of the field for the rest.
  private func restText(_ members: [JSONValue.Member]) throws -> SQLValue {
    .text(try JSONText.text(.object(members)))
  }

  /// The text of any cell; nil for null.
  private func rawText(at index: Int, of csv: CSVReader) throws(StoreError) -> String? {
    if isEmpty(index, of: csv) { return nil }
    return try text(at: index, of: csv, for: header[index])
  }

  /// The cells that expressions use. Numbers and Booleans of the model are such, so that they
  /// compare as numbers; all others are texts.
  private func cellValues(
    of record: InputRecord, _ csv: CSVReader, _ expressions: InputExpressions
  ) throws -> [(name: String, value: SQLValue)] {
    try header.indices.filter { expressions.uses(header[$0]) }.map { index in
      if let field = csvFields[index], [.integer, .real, .boolean].contains(field.schema.type),
        let place = record.fields.places.firstIndex(of: field.place)
      {
        return (header[index], record.row[place])
      }
      return (header[index], try rawText(at: index, of: csv).map { .text($0) } ?? .null)
    }
  }

  /// The members that expressions use, and null for fields that the record does not have.
  private func memberValues(
    of value: JSONValue, _ expressions: InputExpressions
  ) throws -> [(name: String, value: SQLValue)] {
    guard case .object(let members) = value else { return [] }
    var found: [(name: String, value: SQLValue)] = []
    var seen: Set<String> = []
    for member in members where expressions.uses(member.name) {
      guard seen.insert(member.name.asciiFolded).inserted else { continue }
      let stored = member.value.storedValue
      found.append((member.name, try stored ?? .text(JSONText.text(member.value))))
    }
    let others = schema.fields.map(\.name) + Array(options.fieldNames.keys)
    for name in others where expressions.uses(name) {
      if seen.insert(name.asciiFolded).inserted { found.append((name, .null)) }
    }
    return found
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
    at index: Int, of csv: CSVReader, for name: @autoclosure () -> String
  ) throws(StoreError) -> String? {
    let cell = csv.text(at: index)
    if let null = options.nullText, cell == null, !csv.isQuoted(at: index) { return nil }
    let written = try text(of: cell, for: name())
    return options.formulas == .escaped ? written.map(FormulaText.unescaped) : written
  }

  /// What a cell holds; nil for null.
  private func text(
    of cell: String, for name: @autoclosure () -> String
  ) throws(StoreError) -> String? {
    guard format == .tsv else { return cell }
    do {
      return try Self.unescaped(cell)
    } catch {
      var named = error
      named.message = "\(name()): \(error.message)"
      named.field = name()
      throw named
    }
  }

  /// What a cell of TSV means; nil for null.
  ///
  /// - Throws: ``StoreError`` with code `invalidValue` for a backslash that begins no escape.
  static func unescaped(_ cell: String) throws(StoreError) -> String? {
    do {
      return try TSVText.unescaped(cell)
    } catch {
      throw StoreError(.invalidValue, error.description)
    }
  }

  private func notAnObject(_ value: JSONValue) -> String {
    let sentence = "A record must be a JSON object."
    guard format == .ndjson, case .array = value else { return sentence }
    return sentence + " If the whole input is one array, add --format json."
  }

  private func record(of value: JSONValue) throws -> InputRecord {
    guard case .object(let members) = RejectMark.record(in: value) else {
      throw StoreError(.invalidValue, notAnObject(value), model: schema.name)
    }
    var places: [Int] = []
    var row: [SQLValue] = []
    var computed: [ComputedValue] = []
    places.reserveCapacity(members.count)
    row.reserveCapacity(members.count)
    if members.prefix(2).map(\.name) == RejectMark.names {
      unmarkedMembers = Array(members.dropFirst(2))
    }
    var others: [JSONValue.Member] = []
    for (index, member) in members.enumerated() {
      let role = try role(ofMember: index, named: member.name)
      guard let field = role.field else {
        if case .rest = role { others.append(member) }
        continue
      }
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
    if let rest, !others.isEmpty {
      guard !places.contains(rest.place) else {
        throw StoreError(
          .invalidValue, "The object has \(rest.schema.name) itself, which --rest names.",
          model: schema.name)
      }
      places.append(rest.place)
      row.append(try restText(others))
    }
    return InputRecord(fields: fields(at: places), row: row, computed: computed)
  }

  /// What becomes of a JSON member. Most records have the same members in the same order.
  private func role(ofMember index: Int, named name: String) throws(StoreError) -> Role {
    if index < members.count, members[index].name == name { return members[index].role }
    let role = try role(of: name)
    members.removeSubrange(min(index, members.count)...)
    if index == members.count { members.append((name, role)) }
    return role
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
