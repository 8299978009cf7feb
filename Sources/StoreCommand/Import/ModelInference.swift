import ModelStore
import RecordFormats

/// Finds the fields of the records of an input, and what their values have in common.
struct ModelInference {
  /// Whether a record that cannot be read ends it.
  let stopsAtError: Bool
  /// How many records are read; nil for all.
  let sampleCount: Int?
  /// Fields by the names they have in the input.
  let fieldNames: [String: String]
  private(set) var fields: [FieldInference] = []
  private(set) var recordCount = 0
  private var places: [String: Int] = [:]

  init(stopsAtError: Bool, sampleCount: Int?, fieldNames: [String: String]) {
    self.stopsAtError = stopsAtError
    self.sampleCount = sampleCount
    self.fieldNames = fieldNames
  }

  /// Reads the records at `path`.
  ///
  /// - Throws: ``CommandError`` that names the path.
  mutating func read(
    _ path: String, _ options: RecordInput.Options, from inputs: InputFiles
  ) throws {
    var input = try OpenedInput(path: path, options: options, from: inputs)
    for name in input.header.dropFirst(input.markCount) { _ = place(of: name) }
    guard Set(input.header).count == input.header.count else {
      throw CommandError.usage("Two columns of the input have the same name.").naming(path)
    }
    while recordCount < sampleCount ?? .max {
      if Interruption.isRequested {
        throw CommandError(.interrupted, code: "interrupted", "Interrupted; nothing was written.")
      }
      do {
        guard try note(&input, options) else { break }
        recordCount += 1
      } catch let error as InputError where error.leavesRestReadable && !stopsAtError {
        continue
      } catch {
        throw CommandError(error).naming(path)
      }
    }
  }

  /// - Returns: false at the end of the input.
  private mutating func note(
    _ input: inout OpenedInput, _ options: RecordInput.Options
  ) throws -> Bool {
    if try input.csv?.advance() == true, let csv = input.csv {
      try note(csv, of: input, options)
      return true
    }
    guard let value = try input.json?.readRecord() else { return false }
    guard case .object(let members) = value else {
      throw InputError(
        .malformed(detail: "a record must be a JSON object"),
        at: input.json?.position ?? .start, leavesRestReadable: true)
    }
    var noted: Set<Int> = []
    for member in members where !RejectMark.isMark(member.name) {
      let place = place(of: member.name)
      noted.insert(place)
      try fields[place].note(member.value)
    }
    for place in fields.indices where !noted.contains(place) { fields[place].noteNull() }
    return true
  }

  private mutating func note(
    _ csv: CSVReader, of input: OpenedInput, _ options: RecordInput.Options
  ) throws {
    for index in input.markCount..<input.header.count {
      let place = index - input.markCount
      let isQuoted = csv.isQuoted(at: index)
      let cell = csv.text(at: index)
      var text: String? = cell
      if input.format == .tsv { text = try RecordInput.unescaped(cell) }
      if options.formulas == .escaped { text = text.map(FormulaText.unescaped) }
      let isNull =
        text == nil || csv.isMissing(at: index) && input.format == .csv
        || options.emptyIsNull && cell.isEmpty || cell == options.nullText && !isQuoted
      if let text, !isNull {
        fields[place].note(cell: text, isQuoted: isQuoted)
      } else {
        fields[place].noteNull()
      }
    }
  }

  /// The place of the field that the input calls `name`.
  private mutating func place(of name: String) -> Int {
    if let place = places[name] { return place }
    places[name] = fields.count
    fields.append(FieldInference(name: fieldNames[name] ?? name, nullCount: recordCount))
    return fields.count - 1
  }
}
