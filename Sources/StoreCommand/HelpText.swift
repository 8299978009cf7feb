/// The help that the parser writes, in the order in which people read it.
package struct HelpText {
  private static let commonTitle = "COMMON OPTIONS:\n"
  private static let ownTitle = "OPTIONS:\n"

  /// What stands before the options.
  private let beginning: Substring
  private let common: Substring
  /// The options of the command itself, and what follows them.
  private let own: Substring

  /// - Parameter text: Help of the parser, which lists sections with titles first.
  package init(_ text: String) {
    guard let start = text.firstRange(of: Self.commonTitle),
      let end = text[start.upperBound...].firstRange(of: "\n\n" + Self.ownTitle)
    else {
      (beginning, common, own) = (text[...], "", "")
      return
    }
    beginning = text[..<start.lowerBound]
    common = text[start.lowerBound..<end.lowerBound]
    own = text[end.lowerBound...].dropFirst(2)
  }

  /// The whole help, the command's own options first.
  var text: String {
    guard !common.isEmpty else { return String(beginning) }
    let rest = own.reversed().drop { $0 == "\n" }.reversed()
    return beginning + String(rest) + "\n\n" + common + "\n"
  }

  /// The help without the options that all commands share, for a reference that has them once.
  package var withoutCommon: String {
    var lines = (beginning + own).split(separator: "\n", omittingEmptySubsequences: false)
    lines.removeAll { $0.hasPrefix("  --version  ") || $0.hasPrefix("  -h, --help  ") }
    if let title = lines.firstIndex(of: "OPTIONS:"),
      lines[(title + 1)...].first.map(\.isEmpty) ?? true
    {
      lines.remove(at: title)
    }
    while lines.last?.isEmpty == true { lines.removeLast() }
    return lines.joined(separator: "\n")
  }
}
