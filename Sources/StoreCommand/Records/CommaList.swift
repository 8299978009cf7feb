/// Values or names separated by commas. A value with a comma is in double quotes, with inner quotes
/// doubled; in `NAME="VALUE"` the quotes are around the value.
struct CommaList {
  struct Part: Hashable, Sendable {
    var text = ""
    /// Whether it begins with a quote, so it contains no name.
    var isQuoted = false
  }

  /// At least one part; parts may be empty.
  let parts: [Part]
  /// False if a quote is not closed.
  let isClosed: Bool

  init(_ text: String) {
    var parts = [Part()]
    var isOpen = false
    var rest = text[...]
    while let character = rest.popFirst() {
      let last = parts.count - 1
      switch (character, isOpen) {
      case ("\"", false) where parts[last] == Part():
        isOpen = true
        parts[last].isQuoted = true
      case ("\"", false) where !parts[last].isQuoted && parts[last].text.hasSuffix("="):
        isOpen = true
      case ("\"", true) where rest.first == "\"":
        rest.removeFirst()
        parts[last].text.append("\"")
      case ("\"", true): isOpen = false
      case (",", false): parts.append(Part())
      default: parts[last].text.append(character)
      }
    }
    self.parts = parts
    isClosed = !isOpen
  }

  /// The parts' texts.
  var texts: [String] { parts.map(\.text) }
}
