import ModelStore
import RecordFormats

#if canImport(Glibc)
  import Glibc
#elseif canImport(Musl)
  import Musl
#else
  import Darwin
#endif

/// The two voices of a command: data on standard output, talk on standard error.
///
/// Data is buffered until it is much or ``finish()`` is called; talk appears at once, after the
/// data before it when both go to a terminal. One task owns a console.
final class Console {
  /// How much a command says besides its data.
  enum Loudness: Int, Comparable, Sendable {
    /// Data and errors only.
    case quiet
    /// What a person wants to know: counts, hints, what was cut.
    case usual
    /// SQL, timings, which database was found and why.
    case verbose

    static func < (first: Loudness, second: Loudness) -> Bool { first.rawValue < second.rawValue }
  }

  /// Where data goes.
  let data: ByteSink
  /// What standard output is.
  let dataTerminal: Terminal
  /// What standard error is.
  let talkTerminal: Terminal
  let loudness: Loudness
  private let talk: ByteSink

  init(
    data: ByteSink, dataTerminal: Terminal, talk: ByteSink, talkTerminal: Terminal,
    loudness: Loudness = .usual
  ) {
    self.data = data
    self.dataTerminal = dataTerminal
    self.talk = talk
    self.talkTerminal = talkTerminal
    self.loudness = loudness
  }

  /// Writes one line of data.
  func writeLine(_ line: String) throws(OutputError) {
    try data.append(line + "\n")
  }

  /// Writes one JSON text as a line of data.
  ///
  /// - Throws: As ``JSONText/append(_:to:)``; then nothing of it is written.
  func writeLine(_ json: JSONValue) throws(OutputError) {
    try data.append { output throws(OutputError) in
      try JSONText.append(json, to: &output)
      output.append(UInt8(ascii: "\n"))
    }
  }

  /// Says one line to the person, when the command is at least as loud as `loudness`. What it
  /// quotes cannot steer a terminal.
  ///
  /// - Throws: ``OutputError`` from the data before it; talk that nobody can hear fails no command.
  func say(_ line: String, at loudness: Loudness = .usual) throws(OutputError) {
    guard self.loudness >= loudness else { return }
    if dataTerminal.isInteractive && talkTerminal.isInteractive { try data.flush() }
    utter(CellText.visible(line) + "\n")
  }

  private func utter(_ text: String) {
    do throws(OutputError) {
      try talk.append(text)
      try talk.flush()
    } catch {
      // Standard error is closed or full. The data and the exit status say what matters.
      return
    }
  }

  /// Replaces the line of a running count on a terminal; an empty text takes it away. What it
  /// quotes cannot steer the terminal.
  func showProgress(_ text: String) {
    utter("\r\u{1B}[K" + CellText.visible(text))
  }

  /// Asks the person a question, whatever the loudness, after all data before it. What it quotes
  /// cannot steer a terminal.
  ///
  /// - Throws: ``OutputError`` from the data before it; the question is asked all the same.
  func ask(_ question: String) throws(OutputError) {
    try report("\(CellText.visible(question)) [y/N]")
  }

  /// Writes SQL as lines of data. Its line ends stay; on a terminal nothing else of it can steer.
  func writeSQL(_ text: String) throws(OutputError) {
    guard dataTerminal.isInteractive else { return try writeLine(text) }
    for line in text.split(separator: "\n", omittingEmptySubsequences: false) {
      try writeLine(CellText.visible(String(line)))
    }
  }

  /// Says an error, which may be several lines and is dressed already, whatever the loudness, after
  /// all data before it.
  ///
  /// - Throws: ``OutputError`` from the data before it; the error is said all the same.
  func report(_ message: String) throws(OutputError) {
    defer { utter(message + "\n") }
    try data.flush()
  }

  /// Prints a warning, dressed already, whatever the loudness.
  func warn(_ message: String) {
    utter(message + "\n")
  }

  /// The error with a message that cannot steer a terminal.
  static func shown(_ error: StoreError) -> StoreError {
    var shown = error
    shown.message = CellText.visible(error.message)
    return shown
  }

  /// Hands on the data written so far. Call it before the command ends.
  func finish() throws(OutputError) {
    try data.flush()
  }

  /// Ends the process the way a closed pipe ends other programs: by the signal, without a word.
  /// For the outermost level only, after the store is closed.
  static func endByBrokenPipe() -> Never {
    end(by: SIGPIPE)
  }

  /// Ends the process by a signal, so that whoever started it sees that.
  static func end(by number: Int32) -> Never {
    signal(number, SIG_DFL)
    var only = sigset_t()
    sigemptyset(&only)
    sigaddset(&only, number)
    sigprocmask(SIG_UNBLOCK, &only, nil)
    raise(number)
    exit(128 + number)
  }
}
