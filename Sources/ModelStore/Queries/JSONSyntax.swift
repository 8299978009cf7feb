/// Checks whether a text is JSON by RFC 8259, without building a value.
///
/// The command line's parser of imports is stricter: it refuses duplicate names and integers beyond
/// 64 bits, because it builds records. SQLite stores such texts as JSON, so they are accepted here.
package enum JSONSyntax {
  /// Deeper nesting is refused. SQLite's own JSON functions have about the same limit.
  private static let depthMax = 1000

  package static func accepts(_ text: String) -> Bool {
    var rest = text[...].utf8
    skipSpace(&rest)
    guard takeValue(&rest, depth: 0) else { return false }
    skipSpace(&rest)
    return rest.isEmpty
  }

  private static func takeValue(_ rest: inout Substring.UTF8View, depth: Int) -> Bool {
    switch rest.first {
    case UInt8(ascii: "{"): takeList(&rest, closing: "}", depth: depth, ofMembers: true)
    case UInt8(ascii: "["): takeList(&rest, closing: "]", depth: depth, ofMembers: false)
    case UInt8(ascii: "\""): takeString(&rest)
    case UInt8(ascii: "t"): takeWord("true", &rest)
    case UInt8(ascii: "f"): takeWord("false", &rest)
    case UInt8(ascii: "n"): takeWord("null", &rest)
    default: takeNumber(&rest)
    }
  }

  private static func takeList(
    _ rest: inout Substring.UTF8View, closing: Unicode.Scalar, depth: Int, ofMembers: Bool
  ) -> Bool {
    if depth == depthMax { return false }
    rest.removeFirst()
    skipSpace(&rest)
    if take(closing, &rest) { return true }
    repeat {
      skipSpace(&rest)
      if ofMembers {
        guard takeString(&rest) else { return false }
        skipSpace(&rest)
        guard take(":", &rest) else { return false }
        skipSpace(&rest)
      }
      guard takeValue(&rest, depth: depth + 1) else { return false }
      skipSpace(&rest)
    } while take(",", &rest)
    return take(closing, &rest)
  }

  private static func takeString(_ rest: inout Substring.UTF8View) -> Bool {
    guard take("\"", &rest) else { return false }
    while let byte = rest.popFirst() {
      if byte == UInt8(ascii: "\"") { return true }
      if byte < 0x20 { return false }
      if byte == UInt8(ascii: "\\") {
        guard let escaped = rest.popFirst() else { return false }
        if escaped == UInt8(ascii: "u") {
          guard rest.count >= 4, rest.prefix(4).allSatisfy(isHexadecimal) else { return false }
          rest = rest.dropFirst(4)
        } else if !"\"\\/bfnrt".utf8.contains(escaped) {
          return false
        }
      }
    }
    return false
  }

  private static func takeNumber(_ rest: inout Substring.UTF8View) -> Bool {
    _ = take("-", &rest)
    if !take("0", &rest) {
      guard takeDigits(&rest) else { return false }
    }
    if take(".", &rest) {
      guard takeDigits(&rest) else { return false }
    }
    if take("e", &rest) || take("E", &rest) {
      if !take("+", &rest) { _ = take("-", &rest) }
      guard takeDigits(&rest) else { return false }
    }
    return true
  }

  private static func takeDigits(_ rest: inout Substring.UTF8View) -> Bool {
    let count = rest.prefix { (0x30...0x39).contains($0) }.count
    rest = rest.dropFirst(count)
    return count > 0
  }

  private static func takeWord(_ word: String, _ rest: inout Substring.UTF8View) -> Bool {
    guard rest.starts(with: word.utf8) else { return false }
    rest = rest.dropFirst(word.utf8.count)
    return true
  }

  private static func take(
    _ character: Unicode.Scalar, _ rest: inout Substring.UTF8View
  ) -> Bool {
    guard rest.first == UInt8(ascii: character) else { return false }
    rest.removeFirst()
    return true
  }

  private static func skipSpace(_ rest: inout Substring.UTF8View) {
    while let byte = rest.first, byte == 0x20 || byte == 0x09 || byte == 0x0A || byte == 0x0D {
      rest.removeFirst()
    }
  }

  private static func isHexadecimal(_ byte: UInt8) -> Bool {
    Character(Unicode.Scalar(byte)).isHexDigit && byte < 0x80
  }
}
