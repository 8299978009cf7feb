/// Values or names separated by commas. One that holds a comma stands in double quotes, inner ones
/// doubled; in `NAME="VALUE"` the quotes stand around the value.
struct CommaList {
  struct Part: Hashable, Sendable {
    var text = ""
    /// Whether it begins with a quote, so that nothing in it is a name.
    var isQuoted = false
  }

  /// At least one; empty ones are among them.
  let parts: [Part]
  /// False when a quote is never closed.
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
