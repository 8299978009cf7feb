import ArgumentParser
import RecordFormats

/// The word that a shell completes, and the other words of the command line.
struct CompletedWord {
  /// The word, as far as it is written.
  let text: String
  /// The words before and after it, without the name of the program.
  let others: [String]
  /// How much of ``text`` the shell takes for words of its own.
  private let splitCount: Int
  /// How many of ``others`` stand before the word.
  private let place: Int

  /// - Parameters:
  ///   - words: The words of the command line, the name of the program first.
  ///   - index: The place of the completed word.
  ///   - splitsAtBreaks: Whether each `=` and `:` is a word of its own, as in bash.
  init(_ words: [String], at index: Int, splitsAtBreaks: Bool) {
    var text = ""
    var splitCount = 0
    var others: [String] = []
    var place = 0
    var isOpen = false
    for (number, word) in words.enumerated().dropFirst() {
      let isBreak = splitsAtBreaks && !word.isEmpty && word.allSatisfy { "=:".contains($0) }
      let isJoined = (isBreak || isOpen) && !others.isEmpty
      let start = isJoined ? others.removeLast() : ""
      if number == index {
        text = start + word
        splitCount = start.count + (isBreak ? word.count : 0)
        place = others.count
        isOpen = false
      } else {
        others.append(start + word)
        isOpen = isBreak
      }
    }
    self.text = text
    self.splitCount = splitCount
    // bash passes the words as they are written.
    self.others = splitsAtBreaks ? others.map(Self.unquoted) : others
    self.place = place
  }

  /// The word that the shell makes of `word`.
  private static func unquoted(_ word: String) -> String {
    let words = ShellWords(word)
    guard words.open == nil, words.commands.count == 1, words.commands[0].count == 1 else {
      return word
    }
    return words.commands[0][0].text
  }

  /// The names of the command: `rules`, `drop`.
  var commandNames: [String] { commandWords.commandNames }

  private var commandWords: UnparsedArguments {
    UnparsedArguments(LeadingOptions(in: others).rest)
  }

  /// The words after the command that are neither options nor their values. Those before the
  /// completed word; if it stands before them, as the value of an option does, all of them.
  var positionals: [String] {
    let before = positionals(in: others.prefix(place))
    guard before.isEmpty else { return before }
    return positionals(in: others.prefix(place) + [text] + others.dropFirst(place))
  }

  private func positionals(in words: some Sequence<String>) -> [String] {
    let rest = LeadingOptions(in: Array(words)).rest
    var found: [String] = []
    var isValue = false
    for word in rest.dropFirst(UnparsedArguments(rest).commandNames.count) {
      if isValue {
        isValue = false
      } else if word.hasPrefix("-") {
        // `watch` takes a number there; for `query` it is a flag.
        isValue =
          Self.valueTakers.contains(word) && !(word == "--count" && commandNames == ["query"])
      } else {
        found.append(word)
      }
    }
    return found
  }

  /// Whether `--` stands before the word, after which no word is an option.
  var followsTerminator: Bool { others.prefix(place).contains("--") }

  /// Whether an option is among the words.
  func hasOption(_ name: String) -> Bool {
    others.contains { $0 == name || $0.hasPrefix(name + "=") }
  }

  /// The options that stand before a model, key or field and whose value is the next word.
  static let valueTakers: Set =
    Set(LeadingOptions.takingValue).union([
      "--where", "--sort", "--limit", "--offset", "--at", "--busy-timeout", "--from", "--to",
      "--since", "--author", "--tag", "--actor", "--field", "--txn", "--model", "--consumer",
      "--exec", "--count", "--timeout", "--sql", "--migrations", "--rename", "--drop", "--by",
      "--sum", "--avg", "--min", "--max", "--expand", "--install", "--all",
    ])

  /// The texts for the word as a list whose last name begins so, such as `a,b`.
  ///
  /// - Parameter sign: May stand before a name.
  func lists(of names: [String], after sign: String = "") -> [String] {
    let parts = text.split(separator: ",", omittingEmptySubsequences: false)
    let given = parts.dropLast().map(String.init)
    let last = parts.last ?? ""
    let start = given.map { $0 + "," }.joined()
    let mark = !sign.isEmpty && last.hasPrefix(sign) ? sign : ""
    return names.filter { name in !given.contains { $0 == name || $0 == sign + name } }
      .map { start + mark + $0 }
  }

  /// The texts among `found` that begin with the word, each once, as the script for `shell` takes
  /// them. A text with invisible characters is left out: a terminal would act on some of them.
  func offered(_ found: [String], for shell: CompletionShell?) -> [String] {
    var seen: Set<String> = []
    let start = text.utf8
    return found.filter { candidate in
      candidate.utf8.starts(with: start) && candidate.count > splitCount
        && !candidate.unicodeScalars.contains(where: CellText.isInvisible)
        && seen.insert(candidate).inserted
    }
    .map { candidate in
      switch shell {
      // The script expands what it gets, as words of the shell: quoted, they are only text.
      case .bash: Shell.quoted(String(candidate.dropFirst(splitCount)))
      // A colon ends the text and begins its description.
      case .zsh: candidate.replacing("\\", with: "\\\\").replacing(":", with: "\\:")
      default: candidate
      }
    }
  }
}
