import ArgumentParser

/// Common options that stand before the command: `storecli -d music.store query Track`.
///
/// The parser reads a command's options only after its name, so they move there.
struct LeadingOptions {
  /// Options whose value is the next word, or follows `=` in the same word.
  static let takingValue = ["-d", "--db", "-o", "--output", "--fields", "--color"]

  private static let flags: Set = [
    "--json", "--ndjson", "--csv", "--header", "--escape-formulas", "--shared-with-group", "-q",
    "--quiet", "-v", "--verbose",
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
