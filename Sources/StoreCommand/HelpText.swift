/// The help that the parser writes, in the order in which people read it.
enum HelpText {
  private static let commonTitle = "COMMON OPTIONS:\n"
  private static let ownTitle = "OPTIONS:\n"

  /// Returns `help` with the command's own options before those of every command. The parser lists
  /// sections with a title first.
  static func ordered(_ help: String) -> String {
    guard let common = help.firstRange(of: commonTitle),
      let own = help[common.upperBound...].firstRange(of: "\n\n" + ownTitle)
    else { return help }
    var rest = help[own.lowerBound...].dropFirst(2)
    while rest.last == "\n" { rest.removeLast() }
    return help[..<common.lowerBound] + rest + "\n\n" + help[common.lowerBound..<own.lowerBound]
      + "\n"
  }
}
