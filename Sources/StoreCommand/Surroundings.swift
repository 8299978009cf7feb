import ModelStore
import RecordFormats

#if canImport(Glibc)
  import Glibc
#elseif canImport(Musl)
  import Musl
#else
  import Darwin
#endif

/// What a run of the command line gets in addition to its arguments: the environment and the three
/// standard streams. All commands reach them here and nowhere else.
///
/// A program gets those of its process. Tests pass values, so that many runs can share one process
/// at the same time. Relative paths count from the current directory in either case.
package struct Surroundings: Sendable {
  /// A stream that a run writes to.
  package enum Output: Sendable {
    case data
    case talk
  }

  private enum Streams: Sendable {
    case ofProcess
    case values(input: [UInt8], take: @Sendable ([UInt8], Output) -> Void)
  }

  private let variable: @Sendable (String) -> String?
  /// Whether standard input is refused: it is the script of a session.
  private var refusesInput = false
  private let streams: Streams
  private let clock: @Sendable () -> Int64

  /// Those of this process.
  package static let process = Surroundings(
    variable: { name in getenv(name).map { String(cString: $0) } }, streams: .ofProcess,
    clock: { TimeText.now })

  /// Values.
  ///
  /// - Parameters:
  ///   - time: The time of the run, in microseconds since 1970; nil for the system's clock.
  ///   - take: Receives everything written, on any thread, in the order of writing.
  package init(
    environment: [String: String], input: [UInt8], time: Int64? = nil,
    take: @escaping @Sendable ([UInt8], Output) -> Void
  ) {
    self.init(
      variable: { environment[$0] }, streams: .values(input: input, take: take),
      clock: { time ?? TimeText.now })
  }

  private init(
    variable: @escaping @Sendable (String) -> String?, streams: Streams,
    clock: @escaping @Sendable () -> Int64
  ) {
    self.variable = variable
    self.streams = streams
    self.clock = clock
  }

  /// Now, in microseconds since 1970-01-01 00:00:00 UTC.
  var now: Int64 { clock() }

  /// The variables of `names` that are set.
  func variables(_ names: [String]) -> [String: String] {
    var values: [String: String] = [:]
    for name in names { values[name] = variable(name) }
    return values
  }

  /// Where temporary files go: `TMPDIR`, where it names a directory at all.
  var temporaryDirectory: String {
    variable("TMPDIR").flatMap { $0.isEmpty ? nil : $0 } ?? "/tmp"
  }

  /// Whether texts may have characters beyond ASCII: the locale's encoding is UTF-8.
  var hasUnicode: Bool {
    let values = variables(["LC_ALL", "LC_CTYPE", "LANG"])
    let locale = ["LC_ALL", "LC_CTYPE", "LANG"].lazy.compactMap { values[$0] }.first { !$0.isEmpty }
    // Without a locale, nothing says that the terminal cannot show them.
    guard let locale = locale?.lowercased() else { return true }
    return locale.contains("utf-8") || locale.contains("utf8")
  }

  /// How wide help is; nil for the width of the terminal.
  var helpWidth: Int? {
    switch streams {
    case .ofProcess: nil
    case .values: Terminal.width(environment: variables(["COLUMNS"]), reported: nil)
    }
  }

  /// Standard input.
  var input: ByteSource {
    guard !refusesInput else {
      return ByteSource { _ throws(InputError) in
        throw InputError(
          .refused(reason: "it is the script of the session, so a command cannot read it"),
          at: .start)
      }
    }
    switch streams {
    case .ofProcess: return ByteSource(descriptor: STDIN_FILENO)
    case .values(let input, _):
      var rest = input[...]
      return ByteSource { buffer throws(InputError) in
        let chunk = rest.prefix(buffer.count)
        buffer.copyBytes(from: chunk)
        rest = rest.dropFirst(chunk.count)
        return chunk.count
      }
    }
  }

  /// The same, without standard input.
  func refusingInput() -> Surroundings {
    var surroundings = self
    surroundings.refusesInput = true
    return surroundings
  }

  /// Whether a session can ask for inputs: a person types, and sees the prompt.
  func canPrompt(on console: Console) -> Bool {
    switch streams {
    case .ofProcess: isatty(STDIN_FILENO) == 1 && console.talkTerminal.isInteractive
    case .values: false
    }
  }

  /// Whether the terminal moves its cursor.
  var canDraw: Bool { variable("TERM").map { !$0.isEmpty && $0 != "dumb" } ?? false }

  /// Whether reading from `path` may block, as for a pipe or a terminal.
  func mayWait(for path: String) -> Bool {
    var status = stat()
    guard path == "-" else { return stat(path, &status) != 0 || !Self.isRegular(status) }
    return switch streams {
    case .ofProcess: fstat(STDIN_FILENO, &status) != 0 || !Self.isRegular(status)
    case .values: false
    }
  }

  private static func isRegular(_ status: stat) -> Bool { status.st_mode & S_IFMT == S_IFREG }

  /// A console on standard output and standard error. From now on, writing to a closed pipe throws
  /// an error and does not end the process in the middle of a transaction.
  ///
  /// - Parameter isPaged: Whether a pager may show output that is longer than the screen.
  func console(
    colour: ColourPolicy.Choice = .auto, loudness: Console.Loudness = .usual,
    isPaged: Bool = false
  ) -> Console {
    let environment = variables(ColourPolicy.environmentNames + ["COLUMNS"])
    switch streams {
    case .ofProcess:
      signal(SIGPIPE, SIG_IGN)
      let data = ByteSink(descriptor: STDOUT_FILENO)
      let dataTerminal = Terminal(
        descriptor: STDOUT_FILENO, environment: environment, colour: colour)
      let talk = ByteSink(descriptor: STDERR_FILENO)
      let talkTerminal = Terminal(
        descriptor: STDERR_FILENO, environment: environment, colour: colour)
      let pager = isPaged ? pager(on: dataTerminal, data, talk) : nil
      return Console(
        data: pager?.sink(for: .data) ?? data, dataTerminal: dataTerminal,
        // Messages to another place need not wait.
        talk: talkTerminal.isInteractive ? pager?.sink(for: .talk) ?? talk : talk,
        talkTerminal: talkTerminal, loudness: loudness, pager: pager)
    case .values(_, let take):
      let isColoured = ColourPolicy.isColoured(
        choice: colour, environment: environment, isTerminal: false)
      let pipe = Terminal(
        isInteractive: false, width: nil, palette: Palette(isColoured: isColoured))
      return Console(
        data: Self.sink { take($0, .data) }, dataTerminal: pipe,
        talk: Self.sink { take($0, .talk) }, talkTerminal: pipe, loudness: loudness)
    }
  }

  /// A pager for a screen of known height; nil if there is none, or the person wants none.
  private func pager(on terminal: Terminal, _ data: ByteSink, _ talk: ByteSink) -> Pager? {
    let environment = variables(PagerChoice.environmentNames)
    guard terminal.height != nil, let choice = PagerChoice(environment: environment) else {
      return nil
    }
    return Pager(
      choice, variables: PagerChoice.variables(in: environment), on: terminal, data: data,
      talk: talk)
  }

  private static func sink(_ take: @escaping ([UInt8]) -> Void) -> ByteSink {
    ByteSink { bytes in
      take(Array(bytes))
      return bytes.count
    }
  }

  /// Prints a failure that a store reports while a command runs, from any thread: one write to
  /// standard error. Quoted text cannot control a terminal.
  @Sendable func warn(_ error: StoreError) {
    let shown = Console.shown(error)
    switch streams {
    case .ofProcess: StoreError.writeToStandardError(shown)
    case .values(_, let take): take(Array("ModelStore: \(shown)\n".utf8), .talk)
    }
  }
}
