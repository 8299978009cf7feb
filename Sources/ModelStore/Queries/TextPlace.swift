extension Condition {
  /// The part of a text that is compared with a shorter text.
  package enum TextPlace: Hashable, Sendable, CaseIterable {
    case anywhere
    case atStart
    case atEnd

    /// Whether `text` has `wanted` at this place, byte for byte.
    func holds(_ wanted: String, in text: String) -> Bool {
      switch self {
      case .anywhere: text.utf8.contains(wanted.utf8)
      case .atStart: text.utf8.starts(with: wanted.utf8)
      case .atEnd: text.utf8.reversed().starts(with: wanted.utf8.reversed())
      }
    }

    /// Writes the condition as SQL that gives the same answer: unknown for NULL, false for a blob.
    func write(
      _ wanted: String, in operand: Operand, to text: inout SQLText, schema: ModelSchema
    ) {
      text.append(sql: "(typeof(")
      operand.write(to: &text, schema: schema)
      text.append(sql: ") <> 'blob' AND ")
      // Functions that count characters stop at NUL. instr() and functions of blobs do not:
      // https://sqlite.org/lang_corefunc.html#instr
      if self == .atEnd, !wanted.isEmpty {
        text.append(sql: "substr(CAST(")
        operand.write(to: &text, schema: schema)
        let bytes = Array(wanted.utf8)
        text.append(
          SQLText(
            sql: " AS BLOB), ?) = ?)", arguments: [.integer(-Int64(bytes.count)), .blob(bytes)]))
      } else {
        text.append(sql: "instr(")
        operand.write(to: &text, schema: schema)
        text.append(
          SQLText(sql: ", ?) \(self == .atStart ? "=" : ">=") 1)", arguments: [.text(wanted)]))
      }
    }
  }
}
