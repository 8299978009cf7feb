/// An article of the catalogue, or an example that it shows, as lines.
struct ArticleText {
  /// A block of Swift code.
  struct Block {
    /// The example's name or a file's path, from the comment above the block; nil without one.
    let source: String?
    /// Of the opening fence, counted from 1.
    let line: Int
    let code: [String]
  }

  struct UnendedSnippet: Error {
    let path: String
    let name: String
  }

  private(set) var lines: [String]

  var text: String { lines.joined(separator: "\n") }

  init(lines: [String]) {
    self.lines = lines
  }

  /// In the order of the text.
  var blocks: [Block] {
    var blocks: [Block] = []
    var start: Int?
    for (index, line) in lines.enumerated() {
      if let opened = start, line == "```" {
        let above = opened > 0 ? lines[opened - 1] : ""
        blocks.append(
          Block(
            source: Self.between("<!-- snippet: ", " -->", in: above), line: opened + 1,
            code: Array(lines[(opened + 1)..<index])))
        start = nil
      } else if start == nil, line == "```swift" {
        start = index
      }
    }
    return blocks
  }

  /// - Precondition: `block` is one of ``blocks``, and no block before it has been replaced.
  mutating func replace(_ block: Block, with code: [String]) {
    lines.replaceSubrange(block.line..<(block.line + block.code.count), with: code)
  }

  /// The text in double backticks outside of code.
  var symbolLinks: [(name: String, line: Int)] {
    var isCode = false
    return lines.enumerated().flatMap { index, line -> [(name: String, line: Int)] in
      if line.hasPrefix("```") {
        isCode.toggle()
        return []
      }
      if isCode { return [] }
      return line.split(separator: "``", omittingEmptySubsequences: false).enumerated()
        .filter { $0.offset % 2 == 1 }.map { (String($0.element), index + 1) }
    }
  }

  /// The code between `// snippet: NAME` and `// end` in a Swift file, by name, without its margin.
  static func snippets(in lines: [String], of path: String) throws -> [String: [String]] {
    var snippets: [String: [String]] = [:]
    var open: (name: String, margin: Int, code: [String])?
    for line in lines {
      let text = line.drop { $0 == " " }
      if text.hasPrefix("// snippet: ") {
        if let open { throw UnendedSnippet(path: path, name: open.name) }
        open = (String(text.dropFirst(12)), line.count - text.count, [])
      } else if text == "// end", let ended = open {
        snippets[ended.name] = ended.code
        open = nil
      } else if let margin = open?.margin {
        open?.code.append(String(line.dropFirst(min(margin, line.count - text.count))))
      }
    }
    if let open { throw UnendedSnippet(path: path, name: open.name) }
    return snippets
  }

  private static func between(_ start: String, _ end: String, in line: String) -> String? {
    line.hasPrefix(start) && line.hasSuffix(end)
      ? String(line.dropFirst(start.count).dropLast(end.count)) : nil
  }
}
