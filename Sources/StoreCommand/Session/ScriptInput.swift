import RecordFormats

/// The inputs of a session that is no terminal, or one on which nothing can be drawn: lines of
/// standard input, joined until a command is finished.
struct ScriptInput: SessionInput {
  private let source: ByteSource
  /// Where prompts go; nil for a script.
  private let console: Console?
  private var unread: [UInt8] = []
  private var lineCount = 0
  private var isAtEnd = false
  /// How often the input has ended without a byte between.
  private var endCount = 0

  /// After that many ends, a terminal is gone. A person who presses Ctrl-D has one at a time.
  private static let endCountMax = 10

  /// - Parameter console: Where to show prompts; nil for none.
  init(_ source: ByteSource, promptingOn console: Console?) {
    self.source = source
    self.console = console
  }

  mutating func next(_ prompt: () -> SessionPrompt) throws -> SessionEntry {
    var text = ""
    var first: Int?
    do {
      while true {
        if let console {
          let shown = prompt()
          for notice in shown.notices { console.warn(notice) }
          console.draw(first == nil ? shown.text : "...> ")
        }
        guard let line = try nextLine() else { return try end(text, first) }
        text += (first == nil ? "" : "\n") + line
        first = first ?? lineCount
        if ShellLine.open(in: text) == nil { return .text(text, line: first) }
      }
    } catch let error as InputError where error.problem == .interrupted {
      guard console != nil, !Interruption.isTermination else { return .terminated }
      console?.draw("\n")
      return .cleared
    }
  }

  /// The last input needs no `;`, but every quote and parenthesis must be closed.
  private mutating func end(_ text: String, _ first: Int?) throws -> SessionEntry {
    guard let first else {
      endCount += 1
      // A terminal can be read again after Ctrl-D.
      isAtEnd = console == nil
      return endCount < Self.endCountMax ? .ended : .closed
    }
    if let open = ShellLine.open(in: text), open != ";" {
      throw CommandError.usage("The input ends within \(open), in the command of line \(first).")
    }
    return .text(text, line: first)
  }

  private mutating func nextLine() throws -> String? {
    while true {
      if let end = unread.firstIndex(of: UInt8(ascii: "\n")) {
        defer { unread.removeSubrange(...end) }
        return try line(unread[..<end])
      }
      guard !isAtEnd else { break }
      // A person's next line may be for the command that this one begins.
      let bytes = try source.bytes(atMost: console == nil ? 64 * 1024 : 1)
      if bytes.isEmpty { isAtEnd = true } else { endCount = 0 }
      unread += bytes
    }
    guard !unread.isEmpty else { return nil }
    defer { unread = [] }
    return try line(unread[...])
  }

  private mutating func line(_ bytes: ArraySlice<UInt8>) throws -> String {
    lineCount += 1
    guard let line = String(validating: bytes, as: UTF8.self) else {
      throw CommandError(
        .rejected, code: "input", "Line \(lineCount) of the input is not UTF-8.")
    }
    return line.last == "\r" || line.hasSuffix("\r\n") ? String(line.dropLast()) : line
  }
}
