/// Cells of TSV, where a backslash begins an escape.
package enum TSVText {
  /// A backslash that begins no escape, so the cell cannot be read.
  package struct UnknownEscape: Error, CustomStringConvertible {
    package var description: String {
      "In TSV, a backslash must begin \\t, \\n, \\r, \\\\ or \\N."
    }
  }

  /// Returns the value of a cell; nil for null, `\N`.
  package static func unescaped(_ cell: String) throws(UnknownEscape) -> String? {
    guard cell.utf8.contains(UInt8(ascii: "\\")) else { return cell }
    if cell == "\\N" { return nil }
    var text = String.UnicodeScalarView()
    var rest = cell.unicodeScalars[...]
    while let scalar = rest.popFirst() {
      guard scalar == "\\" else {
        text.append(scalar)
        continue
      }
      switch rest.popFirst() {
      case "t": text.append("\t")
      case "n": text.append("\n")
      case "r": text.append("\r")
      case "\\": text.append("\\")
      default: throw UnknownEscape()
      }
    }
    return String(text)
  }
}
