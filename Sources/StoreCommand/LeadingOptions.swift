import ArgumentParser

/// Common options that stand before the command: `storecli -d music.store query Track`.
///
/// The parser reads a command's options only after its name, so they move there.
struct LeadingOptions {
  /// Options whose value is the next word, or follows `=` in the same word.
  static let takingValue = ["-d", "--db", "-o", "--output", "--fields", "--color"]

  /// Words that the parser answers in place of a command.
  private static let answered: Set = [
    "-h", "--help", "--help-hidden", "--version", "--generate-completion-script",
    "--experimental-dump-help", "---completion",
  ]

  private static let flags: Set = [
    "--json", "--ndjson", "--csv", "--header", "--escape-formulas", "--shared-with-group", "-q",
    "--quiet", "-v", "--verbose", "-0", "--nul", "--no-pager",
  ]

  /// The common options before the command, with their values.
  private let options: [String]
  /// The words from the command on.
  let rest: [String]

  init(in words: [String]) {
    var count = 0
    while count < words.count {
      let word = words[count]
      let length = Self.takingValue.contains(word) ? 2 : Self.isOption(word) ? 1 : 0
      guard length > 0, count + length <= words.count else { break }
      count += length
    }
    options = Array(words.prefix(count))
    rest = Array(words.dropFirst(count))
  }

  private static func isOption(_ word: String) -> Bool {
    flags.contains(word) || takingValue.contains { word.hasPrefix($0 + "=") }
  }

  /// Whether an option stands where the command should, or nothing does.
  var lacksCommand: Bool {
    guard let first = rest.first else { return !options.isEmpty }
    let name = first.prefix { $0 != "=" }
    return first.hasPrefix("-") && !Self.answered.contains(String(name))
  }

  /// All words, with these options after the name of the command. Options without effect are left
  /// out: those of help, and those of a command that does not exist.
  ///
  /// If no command follows, they stay, and the parser refuses them.
  var moved: [String] {
    guard let first = rest.first else { return options }
    if ["help", "-h", "--help", "--version"].contains(first) { return rest }
    let count = UnparsedArguments(rest).nameCount
    guard count > 0 else { return first.hasPrefix("-") ? options + rest : rest }
    return Array(rest.prefix(count) + options + rest.dropFirst(count))
  }
}

/// Short options with their values in the same word: `-dmusic.store`, `-ojson`.
///
/// The parser reads such a word as a row of flags, and an `h` in it as a request for help.
enum AttachedValues {
  private static let takers = ["-d", "-o"]

  /// Options whose next word is a value, whatever it begins with: `--sort -date`.
  private static let valueTakers: Set = ["--sort", "--limit", "--offset", "--where"]

  /// The words, with `-dPATH` written as `-d=PATH`. Words after `--` are values and stay.
  static func separated(_ words: [String]) -> [String] {
    let end = words.firstIndex(of: "--") ?? words.endIndex
    let separated = zip(words[..<end], [""] + words).map { word, previous in
      guard word.count > 2, !valueTakers.contains(previous),
        let option = takers.first(where: { word.hasPrefix($0) }), !word.hasPrefix(option + "=")
      else { return word }
      return option + "=" + word.dropFirst(option.count)
    }
    return separated + words[end...]
  }
}
