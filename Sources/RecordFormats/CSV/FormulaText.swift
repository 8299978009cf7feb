/// Text that spreadsheets would read as a formula, and the mark that prevents it.
///
/// The mark is an apostrophe, which means "this is text" to spreadsheets. Text that begins with an
/// apostrophe gets one as well. So removing the first apostrophe restores every text.
package enum FormulaText {
  /// The characters with which a formula may begin, in ASCII and in full width, and the mark
  /// itself.
  private static let beginnings: Set<Unicode.Scalar> = [
    "=", "+", "-", "@", "\t", "\r", "\n", "＝", "＋", "－", "＠", "'",
  ]

  /// Returns `text` with the mark in front if it could be read as a formula.
  package static func escaped(_ text: String) -> String {
    guard let first = text.unicodeScalars.first, beginnings.contains(first) else { return text }
    return "'" + text
  }

  /// Returns the text whose escaped form is `text`.
  package static func unescaped(_ text: String) -> String {
    guard text.unicodeScalars.first == "'" else { return text }
    return String(text.unicodeScalars.dropFirst())
  }
}
