import RecordFormats

#if canImport(Glibc)
  import Glibc
#elseif canImport(Musl)
  import Musl
#else
  import Darwin
#endif

/// A question that a person must answer before many records change. No transaction waits for it.
enum Confirmation {
  /// Whether a person is there to be asked.
  static func canAsk(_ console: Console) -> Bool {
    isatty(STDIN_FILENO) == 1 && console.talkTerminal.isInteractive
  }

  /// Asks, unless `isGiven`; only a terminal is asked.
  ///
  /// - Throws: ``CommandError`` naming the flag that answers, where nobody can be asked.
  static func isGranted(
    _ question: String, isGiven: Bool, flag: String, console: Console
  ) throws -> Bool {
    if isGiven { return true }
    guard canAsk(console) else {
      throw CommandError.usage(
        "\(question) Nobody is here to answer: add \(flag), or -n to see what would change.")
    }
    try console.ask(question)
    let answer = readLine() ?? ""
    return ["y", "yes"].contains(answer.lowercased())
  }
}
