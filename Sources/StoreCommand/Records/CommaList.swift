/// Values or names separated by commas. One that holds a comma stands in double quotes, inner ones
/// doubled; in `NAME="VALUE"` the quotes stand around the value.
enum CommaList {
  /// The parts of `text`, at least one, empty ones included.
  static func parts(of text: String) -> [String] {
    var parts = [""]
    var isQuoted = false
    var rest = text[...]
    while let character = rest.popFirst() {
      switch (character, isQuoted) {
      case ("\"", false)
      where parts[parts.count - 1].isEmpty
        || parts[parts.count - 1].hasSuffix("="):
        isQuoted = true
      case ("\"", true) where rest.first == "\"":
        rest.removeFirst()
        parts[parts.count - 1].append("\"")
      case ("\"", true): isQuoted = false
      case (",", false): parts.append("")
      default: parts[parts.count - 1].append(character)
      }
    }
    return parts
  }
}
