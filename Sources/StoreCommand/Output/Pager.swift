import RecordFormats

#if canImport(Glibc)
  import Glibc
#elseif canImport(Musl)
  import Musl
#else
  import Darwin
#endif

/// Holds what a command prints on a terminal until it is longer than the screen, and then shows it
/// in a pager. Output that fits is printed as without a pager.
///
/// Messages appear behind the data: on the screen, or after the pager has ended.
///
/// ```
///             fits until the end
///   holding ──────────────────────▶ shown
///      │ longer than the screen
///      ▼      cannot be run
///   paging ───────────────────────▶ shown
///      │ the person quits, or the end
///      ▼
///   ended
/// ```
final class Pager {
  private enum State {
    case holding
    case paging(Running)
    case shown
    case ended
  }

  private struct Running {
    let process: ChildProcess
    let input: Int32
    let sink: ByteSink
    /// What was written first: all of it was lost if the pager cannot be run.
    var first: [UInt8] = []
    var isFirstWhole = true
  }

  private struct Piece {
    let bytes: [UInt8]
    let output: Surroundings.Output
  }

  /// More than a pipe holds, so a pager that got more has read some of it.
  private static let firstSizeMax = 1 << 18

  private let choice: PagerChoice
  private let variables: [String: String]
  private let height: Int
  private let data: ByteSink
  private let talk: ByteSink
  private var state = State.holding
  private var held: [Piece] = []
  private var lines: ScreenLines
  private var interruption: sig_t?

  /// - Parameters:
  ///   - data: Standard output, which is the terminal.
  ///   - talk: Standard error.
  init(
    _ choice: PagerChoice, variables: [String: String], on terminal: Terminal, data: ByteSink,
    talk: ByteSink
  ) {
    self.choice = choice
    self.variables = variables
    height = terminal.height ?? .max
    lines = ScreenLines(width: terminal.width ?? Terminal.usualWidth)
    self.data = data
    self.talk = talk
  }

  /// A sink for one of the streams.
  func sink(for output: Surroundings.Output) -> ByteSink {
    ByteSink { [self] bytes throws(OutputError) in
      try take(Array(bytes), output)
      return bytes.count
    }
  }

  private func take(
    _ bytes: [UInt8], _ output: Surroundings.Output
  ) throws(OutputError) {
    switch (state, output) {
    case (.holding, _):
      held.append(Piece(bytes: bytes, output: output))
      lines.add(bytes)
      // The prompt of the shell takes a line, too.
      if lines.count >= height { try open() }
    case (.paging, .data): try feed(bytes)
    case (.paging, .talk): held.append(Piece(bytes: bytes, output: output))
    case (.shown, _): try show(bytes, output)
    case (.ended, .data): throw .readerClosed
    case (.ended, .talk): try show(bytes, output)
    }
  }

  private func show(_ bytes: [UInt8], _ output: Surroundings.Output) throws(OutputError) {
    let sink = output == .data ? data : talk
    try sink.append { buffer throws(OutputError) in buffer.append(contentsOf: bytes) }
    try sink.flush()
  }

  private func showHeld() throws(OutputError) {
    let pieces = held
    held = []
    for piece in pieces { try show(piece.bytes, piece.output) }
  }

  private func open() throws(OutputError) {
    let pipe: SystemPipe
    let process: ChildProcess
    do {
      pipe = try SystemPipe()
      defer { close(pipe.readEnd) }
      process = try ChildProcess(
        shell: choice.line, environment: variables, reading: pipe.readEnd,
        receiving: [SIGINT, SIGQUIT])
    } catch {
      state = .shown
      try warn("\(error)")
      return try showHeld()
    }
    // Ctrl-C is for the pager, as long as it runs.
    interruption = signal(SIGINT, SIG_IGN)
    state = .paging(
      Running(process: process, input: pipe.writeEnd, sink: ByteSink(descriptor: pipe.writeEnd)))
    let pieces = held
    held = pieces.filter { $0.output == .talk }
    for piece in pieces where piece.output == .data {
      if case .paging = state {
        try feed(piece.bytes)
      } else {
        try show(piece.bytes, .data)
      }
    }
  }

  private func feed(_ bytes: [UInt8]) throws(OutputError) {
    guard case .paging(var running) = state else { return }
    // Released while it grows.
    state = .ended
    if running.first.count + bytes.count <= Self.firstSizeMax {
      running.first += bytes
    } else {
      running.isFirstWhole = false
    }
    state = .paging(running)
    do {
      try running.sink.append { buffer throws(OutputError) in buffer.append(contentsOf: bytes) }
      try running.sink.flush()
    } catch .readerClosed {
      try finish(running)
      // The person has quit; the command need not go on.
      if case .ended = state { throw .readerClosed }
    }
  }

  /// Waits until the pager has ended. If it could not be run, its text is printed.
  private func finish(_ running: Running) throws(OutputError) {
    close(running.input)
    let ending: ChildProcess.Ending
    do {
      ending = try running.process.end()
    } catch {
      ending = .exited(127)
    }
    if let interruption { signal(SIGINT, interruption) }
    // As a shell reports a command that it cannot find or run.
    guard running.isFirstWhole, ending == .exited(126) || ending == .exited(127) else {
      state = .ended
      return
    }
    state = .shown
    try warn("it \(ending)")
    try show(running.first, .data)
  }

  private func warn(_ reason: String) throws(OutputError) {
    guard choice.isNamed else { return }
    let text = CellText.visible("warning: the pager \(choice.line) cannot be run: \(reason).")
    try show(Array((text + " Choose one with STORECLI_PAGER, or pass --no-pager.\n").utf8), .talk)
  }

  /// Prints what was held, or waits until the person has left the pager, and then prints the
  /// messages.
  ///
  /// - Returns: Whether the person left before the end.
  @discardableResult
  func end() throws(OutputError) -> Bool {
    var hasQuit = false
    switch state {
    case .holding: state = .shown
    case .paging(let running): try finish(running)
    case .shown: break
    case .ended: hasQuit = true
    }
    try showHeld()
    return hasQuit
  }
}
