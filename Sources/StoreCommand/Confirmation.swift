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
