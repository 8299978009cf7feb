import ModelStore
import RecordFormats

#if canImport(Glibc)
  import Glibc
#elseif canImport(Musl)
  import Musl
#else
  import Darwin
#endif

/// The two outputs of a command: data on standard output, messages on standard error.
///
/// Data is buffered until the buffer is full or ``finish()`` is called. Messages appear at once,
/// after the data before them if both go to a terminal. One task owns a console.
final class Console {
  /// How many messages a command prints in addition to its data.
  enum Loudness: Int, Comparable, Sendable {
    /// Data and errors only.
    case quiet
    /// Also counts, hints, and what was cut.
    case usual
    /// Also SQL, timings, which database was found and why.
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
  /// Shows output that is longer than the screen.
  private let pager: Pager?

  init(
    data: ByteSink, dataTerminal: Terminal, talk: ByteSink, talkTerminal: Terminal,
    loudness: Loudness = .usual, pager: Pager? = nil
  ) {
    self.data = data
    self.dataTerminal = dataTerminal
    self.talk = talk
    self.talkTerminal = talkTerminal
    self.loudness = loudness
    self.pager = pager
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

  /// Prints one line of message, if the command is at least as loud as `loudness`. Quoted text
  /// cannot control a terminal.
  ///
  /// - Throws: ``OutputError`` from the data before it; a lost message does not fail a command.
  func say(_ line: String, at loudness: Loudness = .usual) throws(OutputError) {
    guard self.loudness >= loudness else { return }
    if dataTerminal.isInteractive && talkTerminal.isInteractive { try data.flush() }
    utter(CellText.visible(line) + "\n")
  }

  /// A line about a subject: `index IFK_TrackAlbumId: AlbumId`.
  typealias Remark = (subject: String, text: String)

  /// Prints lines of message. On a terminal, what they say begins in one column.
  ///
  /// - Throws: As ``say(_:at:)``.
  func say(_ remarks: [Remark]) throws(OutputError) {
    guard talkTerminal.isInteractive else {
      for remark in remarks { try say("\(remark.subject): \(remark.text)") }
      return
    }
    let widths = remarks.map { DisplayWidth.of(CellText.visible($0.subject)) }
    let start = 2 + (widths.filter { $0 <= Self.subjectWidthMax }.max() ?? 0)
    for (remark, width) in zip(remarks, widths) {
      try say(remark.subject + String(repeating: " ", count: max(2, start - width)) + remark.text)
    }
  }

  /// Cells of a subject that others are aligned with.
  private static let subjectWidthMax = 40

  private func utter(_ text: String) {
    do throws(OutputError) {
      try talk.append(text)
      try talk.flush()
    } catch {
      // Standard error is closed or full. The data and the exit status are enough.
      return
    }
  }

  /// Replaces the line of a running count on a terminal; an empty text removes it. Quoted text
  /// cannot control the terminal.
  func showProgress(_ text: String) {
    utter("\r\u{1B}[K" + CellText.visible(text))
  }

  /// Draws on the terminal of the messages: text with control sequences, which the caller made.
  func draw(_ text: String) {
    utter(text)
  }

  /// Asks a question, at any loudness, after all data before it. Quoted text cannot control a
  /// terminal.
  ///
  /// - Throws: ``OutputError`` from the data before it; the question is still asked.
  func ask(_ question: String) throws(OutputError) {
    try report("\(CellText.visible(question)) [y/N]")
  }

  /// Writes SQL, or another text of several lines, as lines of data. Its line ends stay; other
  /// control characters cannot control a terminal.
  func writeSQL(_ text: String) throws(OutputError) {
    guard dataTerminal.isInteractive else { return try writeLine(text) }
    for line in text.split(separator: "\n", omittingEmptySubsequences: false) {
      try writeLine(CellText.visible(String(line)))
    }
  }

  /// Prints a formatted error of one or more lines, at any loudness, after all data before it.
  ///
  /// - Throws: ``OutputError`` from the data before it; the error is still printed.
  func report(_ message: String) throws(OutputError) {
    defer { utter(message + "\n") }
    try data.flush()
  }

  /// Prints a formatted warning, at any loudness.
  func warn(_ message: String) {
    utter(message + "\n")
  }

  /// The error with a message that cannot control a terminal.
  static func shown(_ error: StoreError) -> StoreError {
    var shown = error
    shown.message = CellText.visible(error.message)
    return shown
  }

  /// Flushes the data written so far. Call it before the command ends.
  func finish() throws(OutputError) {
    try data.flush()
  }

  /// Shows what a pager holds, and waits until the person has left it. Call it before the process
  /// ends, also after an error.
  ///
  /// - Returns: Whether the person left the pager before the end of the output.
  @discardableResult
  func endPaging() -> Bool {
    do {
      return try pager?.end() ?? false
    } catch {
      // The terminal is gone. The exit status is enough.
      return false
    }
  }

  /// Stops the process until the shell that started it continues it.
  static func suspend() {
    raise(SIGTSTP)
  }

  /// Ends the process as a closed pipe ends other programs: by the signal, without a message.
  /// For the outermost level only, after the store is closed.
  static func endByBrokenPipe() -> Never {
    end(by: SIGPIPE)
  }

  /// Ends the process by a signal, so that its parent process sees the signal.
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
