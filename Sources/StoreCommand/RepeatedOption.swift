/// An option with one value that stands twice on a command line. The parser would take the last one
/// without a word.
enum RepeatedOption {
  private static let names = [
    "--by", "--sort", "--fields", "--where", "--limit", "--offset", "--sql", "--at", "--since",
  ]
  /// Those that take several names.
  private static let lists: Set = ["--by", "--sort", "--fields"]

  /// The error for the first of them in `words`; nil if there is none. Words behind `--` are
  /// values.
  static func problem(in words: [String]) -> CommandError? {
    let own = words.prefix { $0 != "--" }
    let repeated = names.first { name in
      own.count { $0 == name || $0.hasPrefix(name + "=") } > 1
    }
    guard let repeated else { return nil }
    return CommandError.usage(
      "\(repeated) stands twice. Pass it once"
        + (lists.contains(repeated) ? ", with a comma between the names." : "."))
  }
}
