/// The help that the parser writes, in the order in which people read it.
enum HelpText {
  private static let commonTitle = "COMMON OPTIONS:\n"
  private static let ownTitle = "OPTIONS:\n"

  /// Returns `help` with the command's own options before those of every command. The parser lists
  /// sections with a title first, and spells out the usage of commands with few options.
  static func ordered(_ original: String) -> String {
    // Of a command without arguments, the parser says that options are required.
    let help = original.replacing(/\[--db <path>\].*\[--verbose\]/, with: "[<options>]")
      .replacing(" <options>", with: " [<options>]")
    guard let common = help.firstRange(of: commonTitle),
      let own = help[common.upperBound...].firstRange(of: "\n\n" + ownTitle)
    else { return help }
    var rest = help[own.lowerBound...].dropFirst(2)
    while rest.last == "\n" { rest.removeLast() }
    return help[..<common.lowerBound] + rest + "\n\n" + help[common.lowerBound..<own.lowerBound]
      + "\n"
  }
}
