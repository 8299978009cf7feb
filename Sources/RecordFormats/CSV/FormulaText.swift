/// Text that spreadsheets take for a formula, and the mark that keeps them from it.
///
/// The mark is an apostrophe, which spreadsheets take for "this is text". Text that begins with an
/// apostrophe gets one as well, so that taking the first one away restores every text.
package enum FormulaText {
  /// What a formula may begin with, in ASCII and in full width, and the mark itself.
  private static let beginnings: Set<Unicode.Scalar> = [
    "=", "+", "-", "@", "\t", "\r", "\n", "＝", "＋", "－", "＠", "'",
  ]

  /// `text` with the mark in front where it may be taken for a formula.
  package static func escaped(_ text: String) -> String {
    guard let first = text.unicodeScalars.first, beginnings.contains(first) else { return text }
    return "'" + text
  }

  /// The text of which `text` is the escaped form.
  package static func unescaped(_ text: String) -> String {
    guard text.unicodeScalars.first == "'" else { return text }
    return String(text.unicodeScalars.dropFirst())
  }
}
