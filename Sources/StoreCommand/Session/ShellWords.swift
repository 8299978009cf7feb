/// The words of a command that is typed in a session, quoted as in a POSIX shell. An unquoted `;`
/// or the end of the input ends a command.
struct ShellWords {
  struct Word: Equatable {
    var text = ""
    /// Whether the word is `$_` without quotes.
    var isLastResult = false
  }

  /// The commands, each with at least one word.
  private(set) var commands: [[Word]] = []
  /// What the input lacks: a quote, a parenthesis, or the line behind a `\`; nil if it is finished.
  private(set) var open: Character?
  /// Whether the input ends within a word.
  private(set) var endsInWord = false
  /// The words of the command that the input ends in.
  private(set) var lastCommand: [Word] = []
  /// Where the last word begins.
  private(set) var lastWordStart: String.Index

  private var current: [Word] = []
  private var word: Word?
  private var isQuoted = false
  private var depth = 0

  init(_ text: String) {
    lastWordStart = text.startIndex
    var rest = text[...]
    while open == nil {
      if word == nil { lastWordStart = rest.startIndex }
      guard let character = rest.popFirst() else { break }
      take(character, &rest)
    }
    endsInWord = word != nil
    endWord()
    lastCommand = current
    endCommand()
    if open == nil, depth > 0 { open = "(" }
  }

  private mutating func take(_ character: Character, _ rest: inout Substring) {
    switch character {
    case "'":
      guard let end = rest.firstIndex(of: "'") else { return leaveOpen(character, &rest) }
      append(String(rest[..<end]), quoted: true)
      rest = rest[rest.index(after: end)...]
    case "\"": takeQuoted(&rest)
    case "\\":
      guard let next = rest.popFirst() else {
        open = "\\"
        return
      }
      if next == "\n" {
        if rest.isEmpty { open = "\\" }
      } else {
        append(String(next), quoted: true)
      }
    case ";": endCommand()
    case "#" where word == nil: rest = rest.drop { $0 != "\n" }
    case _ where character.isWhitespace: endWord()
    default:
      if character == "(" { depth += 1 }
      if character == ")" { depth = max(0, depth - 1) }
      append(String(character), quoted: false)
    }
  }

  /// In double quotes, a backslash takes a quote, a backslash or a dollar sign literally.
  private mutating func takeQuoted(_ rest: inout Substring) {
    append("", quoted: true)
    while let character = rest.popFirst() {
      if character == "\"" { return }
      if character == "\\", let next = rest.first, "\"\\$".contains(next) {
        rest.removeFirst()
        append(String(next), quoted: true)
      } else {
        append(String(character), quoted: true)
      }
    }
    open = "\""
  }

  private mutating func leaveOpen(_ quote: Character, _ rest: inout Substring) {
    append(String(rest), quoted: true)
    rest = ""
    open = quote
  }

  private mutating func append(_ text: String, quoted: Bool) {
    word = Word(text: (word?.text ?? "") + text)
    isQuoted = isQuoted || quoted
  }

  private mutating func endWord() {
    guard var ended = word else { return }
    ended.isLastResult = ended.text == "$_" && !isQuoted
    current.append(ended)
    word = nil
    isQuoted = false
  }

  private mutating func endCommand() {
    endWord()
    if !current.isEmpty { commands.append(current) }
    current = []
  }
}
