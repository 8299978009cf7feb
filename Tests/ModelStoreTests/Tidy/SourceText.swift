/// A Swift file cut into words and comments. What stands in string literals is left out, except
/// for interpolations, which are code.
///
/// Knows no grammar: rules about single words and their neighbours need none.
struct SourceText {
  struct Token: Hashable {
    /// An identifier or keyword without backticks, a number, or one punctuation mark.
    let text: String
    let line: Int
    /// How many braces are open before it.
    let depth: Int
    /// The offset of its first byte in the file.
    let position: Int

    func touches(_ next: Token) -> Bool { next.position == position + text.utf8.count }
  }

  struct Comment: Hashable {
    /// Without the slashes.
    let text: String
    let line: Int
    let isDocumentation: Bool
  }

  let path: String
  /// Without their ends; line 1 is at 0.
  let lines: [String]
  let tokens: [Token]
  let comments: [Comment]
  /// By word, where it stands in ``tokens``. Many rules look for a few words in all files.
  private let indexes: [String: [Int]]

  init(path: String, text: String) {
    self.path = path
    lines = text.split(separator: "\n", omittingEmptySubsequences: false).map(String.init)
    var scanner = Scanner(bytes: Array(text.utf8))
    scanner.scan()
    tokens = scanner.tokens
    comments = scanner.comments
    indexes = Dictionary(grouping: tokens.indices, by: { [tokens] in tokens[$0].text })
  }

  /// The folder and the file's name, such as `Sources/ModelStore/SQLite` and `Statement.swift`.
  var folder: String { String(path[..<(path.lastIndex(of: "/") ?? path.startIndex)]) }
  var name: String { String(path.split(separator: "/").last ?? "") }

  /// The places where `words` follow one another.
  func places(of words: String...) -> [Token] {
    (indexes[words[0]] ?? []).compactMap { start in
      guard start + words.count <= tokens.count else { return nil }
      for (offset, word) in words.enumerated() where tokens[start + offset].text != word {
        return nil
      }
      return tokens[start]
    }
  }

  /// Where `mark` directly follows `word`.
  func places(of word: String, followedBy mark: String) -> [Token] {
    (indexes[word] ?? []).compactMap { index in
      let token = tokens[index]
      guard index + 1 < tokens.count, tokens[index + 1].text == mark,
        token.touches(tokens[index + 1])
      else { return nil }
      return token
    }
  }

  private static let typeKeywords: Set = [
    "struct", "class", "enum", "protocol", "actor", "typealias",
  ]

  /// The names of all types declared, nested ones too.
  var types: [Token] {
    tokens.indices.dropLast().compactMap { index in
      guard Self.typeKeywords.contains(tokens[index].text),
        index == 0 || tokens[index - 1].text != ".",
        tokens[index + 1].text.first?.isUppercase == true
      else { return nil }
      return tokens[index + 1]
    }
  }

  /// The names of the types declared at the top level that other files can see.
  var declaredTypes: [Token] {
    tokens.indices.dropLast().compactMap { index in
      let token = tokens[index]
      guard Self.typeKeywords.contains(token.text), token.depth == 0 else { return nil }
      let before = tokens[max(0, index - 2)..<index].map(\.text)
      guard !before.contains("private"), !before.contains("fileprivate"), before.last != "."
      else { return nil }
      return tokens[index + 1]
    }
  }
}

extension SourceText {
  /// What functions, properties, variables and enum cases are called, local ones too.
  var declaredNames: Set<String> {
    var names: Set<String> = []
    for index in tokens.indices.dropLast() {
      switch tokens[index].text {
      case "func", "var", "let": names.insert(tokens[index + 1].text)
      case "case":
        var next = index + 1
        names.insert(tokens[next].text)
        while next + 2 < tokens.count, tokens[next + 1].text == "," {
          next += 2
          names.insert(tokens[next].text)
        }
      default: break
      }
    }
    return names
  }

  /// The words before a colon: parameters and arguments.
  var labels: Set<String> {
    Set(tokens.indices.dropLast().filter { tokens[$0 + 1].text == ":" }.map { tokens[$0].text })
  }

  /// The functions and properties that extensions declare for other files to see, each with the
  /// first word of the extended type.
  var extensionMembers: [(type: String, name: String)] {
    var type: String?
    return tokens.indices.dropLast().compactMap { index in
      let token = tokens[index]
      if token.depth == 0, token.text == "extension" || Self.typeKeywords.contains(token.text) {
        let isOpen = token.text == "extension" && !isPrivate(at: index)
        type = isOpen ? tokens[index + 1].text : nil
      }
      guard let type, token.depth == 1, ["func", "var", "let"].contains(token.text),
        !isPrivate(at: index)
      else { return nil }
      return (type, tokens[index + 1].text)
    }
  }

  /// Whether a modifier before the keyword at `index` hides the declaration from other files.
  private func isPrivate(at index: Int) -> Bool {
    let modifiers: Set = [
      "static", "mutating", "borrowing", "consuming", "nonisolated", "final", "public", "package",
    ]
    let before = tokens[..<index].last { !modifiers.contains($0.text) }?.text
    return before == "private" || before == "fileprivate"
  }
}

extension SourceText {
  private struct Scanner {
    enum Mode {
      case code(parentheses: Int)
      case string(hashes: Int, isMultiline: Bool)
    }

    let bytes: [UInt8]
    var position = 0
    var line = 1
    var depth = 0
    /// The outermost is code; a string inside, an interpolation in it, and so on.
    var modes: [Mode] = [.code(parentheses: 0)]
    var tokens: [Token] = []
    var comments: [Comment] = []

    init(bytes: [UInt8]) { self.bytes = bytes }

    func byte(_ offset: Int = 0) -> UInt8 {
      position + offset < bytes.count ? bytes[position + offset] : 0
    }

    mutating func scan() {
      while position < bytes.count {
        switch modes[modes.count - 1] {
        case .code(let parentheses): scanCode(parentheses)
        case .string(let hashes, let isMultiline): scanString(hashes, isMultiline)
        }
      }
    }

    mutating func scanCode(_ parentheses: Int) {
      let current = byte()
      if Self.isWord(current) { return scanWord() }
      if current == UInt8(ascii: "/"), byte(1) == UInt8(ascii: "/") { return scanLineComment() }
      if current == UInt8(ascii: "/"), byte(1) == UInt8(ascii: "*") { return scanBlockComment() }
      if startString() { return }
      position += 1
      switch current {
      case UInt8(ascii: "\n"): line += 1
      case UInt8(ascii: " "), UInt8(ascii: "\t"), UInt8(ascii: "\r"), UInt8(ascii: "`"): break
      case UInt8(ascii: "("):
        modes[modes.count - 1] = .code(parentheses: parentheses + 1)
        add(current)
      case UInt8(ascii: ")"):
        if parentheses == 0, modes.count > 1 {
          modes.removeLast()
        } else {
          modes[modes.count - 1] = .code(parentheses: max(0, parentheses - 1))
          add(current)
        }
      case UInt8(ascii: "{"):
        add(current)
        depth += 1
      case UInt8(ascii: "}"):
        depth -= 1
        add(current)
      default: add(current)
      }
    }

    mutating func add(_ byte: UInt8) {
      tokens.append(
        Token(
          text: String(decoding: [byte], as: UTF8.self), line: line, depth: depth,
          position: position - 1))
    }

    mutating func scanWord() {
      let start = position
      while Self.isWord(byte()) { position += 1 }
      tokens.append(
        Token(
          text: String(decoding: bytes[start..<position], as: UTF8.self), line: line,
          depth: depth, position: start))
    }

    mutating func scanLineComment() {
      let start = position
      while position < bytes.count, byte() != UInt8(ascii: "\n") { position += 1 }
      let text = String(decoding: bytes[start..<position], as: UTF8.self)
      comments.append(
        Comment(
          text: String(text.drop { $0 == "/" }), line: line, isDocumentation: text.hasPrefix("///"))
      )
    }

    mutating func scanBlockComment() {
      var nesting = 0
      let first = line
      let start = position
      repeat {
        if byte() == UInt8(ascii: "/"), byte(1) == UInt8(ascii: "*") {
          nesting += 1
          position += 2
        } else if byte() == UInt8(ascii: "*"), byte(1) == UInt8(ascii: "/") {
          nesting -= 1
          position += 2
        } else {
          if byte() == UInt8(ascii: "\n") { line += 1 }
          position += 1
        }
      } while nesting > 0 && position < bytes.count
      comments.append(
        Comment(
          text: String(decoding: bytes[start..<position], as: UTF8.self), line: first,
          isDocumentation: false))
    }

    mutating func startString() -> Bool {
      var hashes = 0
      while byte(hashes) == UInt8(ascii: "#") { hashes += 1 }
      let quote = UInt8(ascii: "\"")
      guard byte(hashes) == quote else { return false }
      let isMultiline = byte(hashes + 1) == quote && byte(hashes + 2) == quote
      position += hashes + (isMultiline ? 3 : 1)
      modes.append(.string(hashes: hashes, isMultiline: isMultiline))
      return true
    }

    mutating func scanString(_ hashes: Int, _ isMultiline: Bool) {
      let current = byte()
      if current == UInt8(ascii: "\\"), isHashes(after: 1, count: hashes) {
        let next = byte(1 + hashes)
        if next == UInt8(ascii: "\n") { line += 1 }
        position += 2 + hashes
        if next == UInt8(ascii: "(") { modes.append(.code(parentheses: 0)) }
        return
      }
      let quotes = isMultiline ? 3 : 1
      if (0..<quotes).allSatisfy({ byte($0) == UInt8(ascii: "\"") }),
        isHashes(after: quotes, count: hashes)
      {
        position += quotes + hashes
        modes.removeLast()
        return
      }
      if current == UInt8(ascii: "\n") { line += 1 }
      position += 1
    }

    func isHashes(after offset: Int, count: Int) -> Bool {
      (0..<count).allSatisfy { byte(offset + $0) == UInt8(ascii: "#") }
    }

    static func isWord(_ byte: UInt8) -> Bool {
      // Without ranges, which take most of the scan in a debug build.
      let folded = byte | 0x20
      if folded >= UInt8(ascii: "a"), folded <= UInt8(ascii: "z") { return true }
      if byte >= UInt8(ascii: "0"), byte <= UInt8(ascii: "9") { return true }
      return byte == UInt8(ascii: "_") || byte >= 0x80
    }
  }
}
