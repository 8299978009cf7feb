/// Words for a POSIX shell, in commands that messages suggest.
enum Shell {
  /// `word` as one argument; quoted only when it must be.
  static func quoted(_ word: String) -> String {
    let isPlain =
      !word.isEmpty
      && word.utf8.allSatisfy { byte in
        switch byte {
        case UInt8(ascii: "a")...UInt8(ascii: "z"), UInt8(ascii: "A")...UInt8(ascii: "Z"),
          UInt8(ascii: "0")...UInt8(ascii: "9"):
          true
        default: "_-./,:=+@%".utf8.contains(byte)
        }
      }
    guard !isPlain else { return word }
    guard !word.unicodeScalars.contains(where: { $0.value < 0x20 || $0.value == 0x7F }) else {
      return escaped(word)
    }
    return "'"
      + word.split(separator: "'", omittingEmptySubsequences: false).joined(separator: "'\\''")
      + "'"
  }

  /// `word` with its control characters as escapes, in the quotes of bash, zsh and POSIX.1-2024.
  private static func escaped(_ word: String) -> String {
    let text = word.unicodeScalars.map { scalar in
      switch scalar {
      case "\n": "\\n"
      case "\t": "\\t"
      case "\\", "'": "\\\(scalar)"
      case _ where scalar.value < 0x20 || scalar.value == 0x7F:
        "\\" + String(scalar.value + 0o1000, radix: 8).dropFirst()
      default: String(scalar)
      }
    }
    return "$'" + text.joined() + "'"
  }

  /// `path` as one argument that is not taken for an option.
  static func quotedPath(_ path: String) -> String {
    quoted(path.hasPrefix("-") ? "./" + path : path)
  }
}
