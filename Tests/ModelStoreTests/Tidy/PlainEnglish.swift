/// How often a text uses words that only this project's authors understood, and how often it
/// addresses its reader.
///
/// The list holds words that are rarely right here. Each has a plain counterpart: "told" is
/// "notified" or "reported", "anew" is "again", "nobody" is "no observer" or "no program".
struct PlainEnglish: Hashable, CustomStringConvertible {
  var wordCount = 0
  /// Occurrences of the phrases in ``dialect``.
  var dialectCount = 0
  /// Occurrences of "you", "your" and "yours".
  var addressCount = 0

  static let dialect: Set<[String]> = Set(
    """
    tell, tells, telling, told, anew, nobody, somebody, whoever, mend, mends, mended, put right,
    puts right, let alone, kept true, stay true, stays true, comes into force, come into force,
    comes to hold, come to hold, what it comes to, what they come to, held against, besides, so many,
    hear, hears, heard, but for, unkept, offender, offenders, leads back
    """
    .split(separator: ",").map { $0.split { $0.isWhitespace }.map(String.init) })

  private static let beginnings = Dictionary(grouping: dialect, by: { $0[0] })

  mutating func add(_ text: String) {
    let words = Self.words(of: text)
    wordCount += words.count
    for index in words.indices {
      if ["you", "your", "yours"].contains(words[index]) { addressCount += 1 }
      let phrases = Self.beginnings[words[index]] ?? []
      if phrases.contains(where: { words[index...].starts(with: $0) }) { dialectCount += 1 }
    }
  }

  /// The words in lower case, without code in backticks and without the targets of links.
  private static func words(of text: String) -> [String] {
    let prose = text.split(separator: "`", omittingEmptySubsequences: false).enumerated()
      .map { $0.offset % 2 == 0 ? String($0.element) : "x" }.joined()
    return prose.split { !$0.isLetter && !$0.isNumber && $0 != "'" && $0 != "-" }
      .map { $0.lowercased() }
  }

  /// How many of 10,000 words `count` are, rounded.
  func rate(_ count: Int) -> Int {
    wordCount == 0 ? 0 : (count * 10_000 + wordCount / 2) / wordCount
  }

  var description: String {
    "\(rate(dialectCount)) dialect words and \(rate(addressCount)) of “you” in 10,000 words"
  }
}

extension Project {
  /// The prose of every Markdown file.
  var documentEnglish: PlainEnglish {
    markdown.reduce(into: PlainEnglish()) { english, file in
      for text in Self.proseLines(file.lines) { english.add(text) }
    }
  }

  /// The comments and messages of the Swift files under `folders`.
  func sourceEnglish(under folders: String...) -> PlainEnglish {
    folders.flatMap { swift(under: $0) }.reduce(into: PlainEnglish()) { english, file in
      for comment in file.comments { english.add(comment.text) }
      for line in file.lines { for text in Self.literals(in: line) { english.add(text) } }
    }
  }

  private static func proseLines(_ lines: [String]) -> [String] {
    var isCode = false
    return lines.filter { line in
      let isFence = line.hasPrefix("```")
      if isFence { isCode.toggle() }
      return !isCode && !isFence && !line.hasPrefix("|---")
    }
  }

  /// Texts of several words between the quotes of one line.
  private static func literals(in line: String) -> [String] {
    guard !line.drop(while: \.isWhitespace).hasPrefix("//") else { return [] }
    return line.split(separator: "\"", omittingEmptySubsequences: false).enumerated()
      .filter { $0.offset % 2 == 1 && $0.element.contains(" ") }
      .map { String($0.element) }
  }
}
