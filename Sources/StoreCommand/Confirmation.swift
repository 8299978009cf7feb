import RecordFormats

#if canImport(Glibc)
  import Glibc
#elseif canImport(Musl)
  import Musl
#else
  import Darwin
#endif

/// A question that a person must answer before many records change. No transaction is open
/// meanwhile.
enum Confirmation {
  /// Whether the command runs on a terminal, so that it can ask.
  static func canAsk(_ console: Console) -> Bool {
    isatty(STDIN_FILENO) == 1 && console.talkTerminal.isInteractive
  }

  /// The number of lines shown before a question.
  static let previewCountMax = 5

  /// Prints what a question is about: the first lines, then how many more there are.
  ///
  /// - Parameter text: Returns a line, for its place among all.
  static func preview(count: Int, on console: Console, _ text: (Int) -> String) throws {
    for place in 0..<min(count, previewCountMax) { try console.say("  " + text(place)) }
    if count > previewCountMax {
      try console.say("  and \(Grouped.text(count - previewCountMax, "more line"))")
    }
  }

  /// Asks on the terminal, unless `isGiven`.
  ///
  /// - Throws: ``CommandError`` that names the flag to pass, if the command has no terminal.
  static func isGranted(
    _ question: String, isGiven: Bool, flag: String, console: Console
  ) throws -> Bool {
    if isGiven { return true }
    guard canAsk(console) else {
      throw CommandError.usage(
        "\(question) The command runs without a terminal, so it cannot ask: add \(flag), or -n to see what would change."
      )
    }
    try console.ask(question)
    let answer = readLine() ?? ""
    return ["y", "yes"].contains(answer.lowercased())
  }
}
