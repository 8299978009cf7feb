/// The text of a stored value outside JSON.
///
/// | value   | table, record       | plain            | csv              | tsv            |
/// |---------|---------------------|------------------|------------------|----------------|
/// | null    | `null`, dim         | nothing          | nothing          | `\N`           |
/// | truth   | `yes`, `no`         | `true`, `false`  | `true`, `false`  | `true`, `false`|
/// | integer | digits              | digits           | digits           | digits         |
/// | real    | shortest exact      | shortest exact   | shortest exact   | shortest exact |
/// | text    | controls shown      | tab, line shown  | quoted as needed | escaped        |
/// | blob    | `<3 bytes>`         | base64           | base64           | base64         |
///
/// A real always has a fraction or an exponent, or is `inf` or `-inf`.
///
/// CSV distinguishes empty text (`""`) from null. Plain does not; it is for people and for `cut`.
package enum CellText {
  /// Returns the text for a person: short, on one line, without characters that could control a
  /// terminal.
  package static func display(_ value: CellValue, as meaning: OutputColumn.Meaning = .stored)
    -> String
  {
    switch (value, meaning) {
    case (.null, _): "null"
    case (.integer(0), .truth): "no"
    case (.integer(1), .truth): "yes"
    case (.integer(let number), _): String(number)
    case (.real(let number), _): number.description
    case (.text(let text), _): visible(text)
    case (.blob(let bytes), _): bytes.count == 1 ? "<1 byte>" : "<\(bytes.count) bytes>"
    }
  }

  /// As ``display(_:as:)``, but only the first `scalarCountMax` scalars of a longer text.
  ///
  /// - Returns: The text, which ends in an ellipsis if it was cut.
  package static func display(
    _ value: CellValue, as meaning: OutputColumn.Meaning, scalarCountMax: Int
  ) -> (text: String, isCut: Bool) {
    guard case .text(let text) = value, text.utf8.count > scalarCountMax,
      let end = text.unicodeScalars.index(
        text.startIndex, offsetBy: scalarCountMax, limitedBy: text.endIndex),
      end < text.endIndex
    else { return (display(value, as: meaning), false) }
    let beginning = String(String.UnicodeScalarView(text.unicodeScalars[..<end]))
    return (visible(beginning) + DisplayWidth.ellipsis, true)
  }

  /// Returns the whole value for a program; nil for null, which each format spells in its own way.
  package static func exchange(_ value: CellValue, as meaning: OutputColumn.Meaning = .stored)
    -> String?
  {
    switch (value, meaning) {
    case (.null, _): nil
    case (.integer(0), .truth): "false"
    case (.integer(1), .truth): "true"
    case (.integer(let number), _): String(number)
    case (.real(let number), _): number.description
    case (.text(let text), _): text
    case (.blob(let bytes), _): Base64.encoded(bytes)
    }
  }

  /// Returns `text` with invisible and reordering characters spelled out: `\n`, `\t`, `\u{1b}`. A
  /// backslash stays as it is, so this is not reversible.
  package static func visible(_ text: String) -> String {
    // The first bytes of invisible characters beyond ASCII are C2, D8 and E2.
    guard
      text.utf8.contains(where: {
        $0 < 0x20 || $0 == 0x7F || $0 == 0xC2 || $0 == 0xD8 || $0 == 0xE2
      })
    else { return text }
    guard text.unicodeScalars.contains(where: { isInvisible($0) }) else { return text }
    var shown = ""
    for scalar in text.unicodeScalars {
      if isInvisible(scalar) {
        shown += escape(scalar)
      } else {
        shown.unicodeScalars.append(scalar)
      }
    }
    return shown
  }

  /// Returns whether a character is invisible or reorders others: controls, line and paragraph
  /// separators, and all bidirectional marks, embeddings, overrides and isolates.
  package static func isInvisible(_ scalar: Unicode.Scalar) -> Bool {
    switch scalar.value {
    case 0x00..<0x20, 0x7F..<0xA0: true
    case 0x061C, 0x200E...0x200F, 0x2028...0x2029, 0x202A...0x202E, 0x2066...0x2069: true
    default: false
    }
  }

  private static func escape(_ scalar: Unicode.Scalar) -> String {
    switch scalar {
    case "\n": "\\n"
    case "\r": "\\r"
    case "\t": "\\t"
    case "\0": "\\0"
    default: "\\u{" + String(scalar.value, radix: 16) + "}"
    }
  }
}
