import ModelStore
import RecordFormats

/// A record as a text that a person edits, one field on a line:
///
/// ```
/// title = Lunar Rivers
/// year:null
/// notes = """
/// A text of several lines.
/// """
/// ```
///
/// The words are those of `update`. Lines that begin with `#` are comments. A field whose line is
/// unchanged, or was removed, keeps its value bit for bit: only changed texts are read.
struct RecordText {
  /// Why an edited text cannot be read.
  struct Problem: Error {
    /// The number of the line, from 1; nil for the whole text.
    let line: Int?
    let message: String
  }

  private let schema: ModelSchema
  private let record: DynamicRecord
  /// What a person cannot edit here, and why.
  private let locked: [String: String]

  /// - Parameter bindings: The name of the binding that each bound field follows.
  init(of record: DynamicRecord, bindings: [String: String]) {
    self.record = record
    schema = record.schema
    var locked: [String: String] = [:]
    for (field, value) in zip(schema.fields, record.values) {
      if schema.key.contains(field.name) {
        locked[field.name] = "the key"
      } else if field.generated != nil {
        locked[field.name] = "computed by the database"
      } else if let binding = bindings[field.name] {
        locked[field.name] = "follows the binding \(binding)"
      } else if !Self.isEditable(value, field) {
        locked[field.name] = "cannot be edited as text"
      } else if Self.isOddName(field.name) {
        locked[field.name] = "change it with update"
      }
    }
    self.locked = locked
  }

  /// Bytes, and texts with characters that an editor does not show or keep.
  private static func isEditable(_ value: SQLValue, _ field: FieldSchema) -> Bool {
    guard !field.takesBytes else { return false }
    switch value {
    case .null, .integer: return true
    // The fields of other types show what they read back.
    case .real(let number): return number.isFinite
    case .blob: return false
    case .text(let text):
      return !text.unicodeScalars.contains {
        $0 != "\n" && $0 != "\t" && CellText.isInvisible($0)
      }
    }
  }

  private static func isOddName(_ name: String) -> Bool {
    name.wholeMatch(of: /[\p{L}_][\p{L}\p{N}_ \-]*/) == nil || name.hasSuffix(" ")
  }

  /// The text to edit.
  ///
  /// - Parameter changes: Values that a person has already written, in place of the stored ones.
  func text(changes: [String: SQLValue] = [:]) -> String {
    let title = "\(schema.name) \(KeyText.text(record.key))"
    var lines = [
      "# \(title). Change values, then save and leave the editor.",
      "# FIELD:null sets null. A text of several lines stands between \"\"\" and \"\"\".",
      "# Unchanged lines are not written. To change nothing, leave without saving.",
    ]
    for (field, value) in zip(schema.fields, record.values) {
      if let reason = locked[field.name] {
        let shown = CellText.display(
          CellValue(FieldColumns.shown(value, field)), as: FieldColumns.meaning(of: field),
          scalarCountMax: 60)
        lines.append("# \(CellText.visible(field.name)) = \(shown.text)   (\(reason))")
      } else {
        lines.append(Self.line(field, changes[field.name] ?? value))
      }
    }
    return lines.joined(separator: "\n") + "\n"
  }

  private static func line(_ field: FieldSchema, _ value: SQLValue) -> String {
    guard !value.isNull else { return "\(field.name):null" }
    let text = FieldText.text(of: value, for: field)
    let isPlain =
      !text.contains("\n") && text.first?.isWhitespace != true
      && text.last?.isWhitespace != true && !text.hasPrefix("\"\"\"")
    guard !isPlain else { return text.isEmpty ? "\(field.name) =" : "\(field.name) = \(text)" }
    var mark = "\"\"\""
    while text.split(separator: "\n", omittingEmptySubsequences: false).contains(Substring(mark)) {
      mark += "\""
    }
    return "\(field.name) = \(mark)\n\(text)\n\(mark)"
  }

  /// The values that a person changed, by field.
  ///
  /// - Throws: ``Problem`` with the line.
  func changes(in edited: String) throws(Problem) -> [String: SQLValue] {
    var changes: [String: SQLValue] = [:]
    var seen: Set<String> = []
    for entry in try entries(of: edited) {
      let field = try self.field(of: entry)
      guard seen.insert(field.name).inserted else {
        throw Problem(line: entry.line, message: "\(field.name) is given twice.")
      }
      let place = schema.fieldIndex(named: field.name) ?? 0
      let stored = record.values[place]
      guard let text = entry.text else {
        if !stored.isNull { changes[field.name] = .null }
        continue
      }
      if !stored.isNull, FieldText.text(of: stored, for: field) == text { continue }
      do throws(StoreError) {
        changes[field.name] = try field.parse(text)
      } catch {
        throw Problem(line: entry.line, message: error.message)
      }
    }
    return changes
  }

  private func field(of entry: Entry) throws(Problem) -> FieldSchema {
    guard let field = schema.field(named: entry.name) else {
      let near = NearMiss.suggestions(for: entry.name, among: schema.fields.map(\.name))
      throw Problem(
        line: entry.line,
        message: "\(schema.name) has no field \(entry.name)" + CommandError.meant(near))
    }
    if let reason = locked[field.name] {
      throw Problem(
        line: entry.line, message: "\(field.name) cannot be changed here (\(reason)).")
    }
    return field
  }

  /// A field as it is written.
  private struct Entry {
    let name: String
    /// Nil for null.
    let text: String?
    let line: Int
  }

  private func entries(of edited: String) throws(Problem) -> [Entry] {
    // By bytes: to Swift, a carriage return and a newline are one character.
    let lines = edited.utf8.split(separator: UInt8(ascii: "\n"), omittingEmptySubsequences: false)
      .map { Substring($0) }
    var entries: [Entry] = []
    var number = 0
    while number < lines.count {
      let line = lines[number].trimmedCarriageReturn
      number += 1
      guard line.contains(where: { !$0.isWhitespace }), line.first != "#" else { continue }
      if let name = line.wholeMatch(of: /\s*([^=]+?)\s*:null\s*/)?.output.1 {
        entries.append(Entry(name: String(name), text: nil, line: number))
        continue
      }
      guard let equal = line.firstIndex(of: "=") else {
        throw Problem(line: number, message: "Write FIELD = VALUE or FIELD:null.")
      }
      let name = line[..<equal].trimmingBlanks
      var text = line[line.index(after: equal)...]
      if text.first == " " { text.removeFirst() }
      let mark = text.trimmingBlanks
      guard mark.count >= 3, mark.allSatisfy({ $0 == "\"" }) else {
        entries.append(Entry(name: String(name), text: String(text), line: number))
        continue
      }
      let start = number
      while number < lines.count, lines[number].trimmedCarriageReturn != mark { number += 1 }
      guard number < lines.count else {
        throw Problem(
          line: start, message: "The text of \(name) has no line with \(mark) at its end.")
      }
      let parts = lines[start..<number].map { String($0) }
      entries.append(Entry(name: String(name), text: parts.joined(separator: "\n"), line: start))
      number += 1
    }
    return entries
  }
}

extension Substring {
  fileprivate var trimmedCarriageReturn: Substring {
    utf8.last == UInt8(ascii: "\r") ? Substring(utf8.dropLast()) : self
  }

  fileprivate var trimmingBlanks: Substring {
    var text = self
    while text.first?.isWhitespace == true { text.removeFirst() }
    while text.last?.isWhitespace == true { text.removeLast() }
    return text
  }
}
