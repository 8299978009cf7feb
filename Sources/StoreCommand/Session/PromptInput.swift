import RecordFormats

/// The inputs of a session on a terminal: the keyboard, the editor and the screen.
struct PromptInput: SessionInput {
  private let input: TerminalInput
  private let console: Console
  private let file: HistoryFile?
  /// The words that may stand where the cursor is.
  private let completions: (_ before: String) -> CompletedInput
  /// The size of the terminal now.
  private let size: () -> Terminal
  private var editor: LineEditor
  private var decoder = KeyDecoder()
  private var picture: LinePicture?
  /// The width for which ``picture`` was made.
  private var width = 0
  private var hasWarnedOfHistory = false
  /// Whether the picture is older than the input: more keys were waiting.
  private var isBehind = false

  /// How long an Escape may be the beginning of a longer key, in milliseconds.
  private static let escapePause: Int32 = 50

  init(
    _ input: TerminalInput, on console: Console, history file: HistoryFile?,
    size: @escaping () -> Terminal, completions: @escaping (_ before: String) -> CompletedInput
  ) {
    self.input = input
    self.console = console
    self.file = file
    self.size = size
    self.completions = completions
    var history = InputHistory()
    do {
      history = InputHistory(try file?.entries() ?? [])
    } catch {
      Self.warn(of: error, file, console)
      hasWarnedOfHistory = true
    }
    editor = LineEditor(history: history) { ShellLine.open(in: $0) != nil }
  }

  mutating func next(_ prompt: () -> SessionPrompt) throws -> SessionEntry {
    input.mode.beginEditing()
    console.draw("\u{1B}[?2004h")
    defer {
      console.draw("\u{1B}[?2004l")
      input.mode.endEditing()
    }
    input.awaitSignals()
    picture = nil
    var shown = prompt()
    draw(shown)
    while true {
      if Interruption.isTermination { return .terminated }
      let pause = decoder.isInEscape ? Self.escapePause : shown.pause
      switch try input.next(timeout: pause) {
      case .byte(let byte):
        guard let key = decoder.take(byte) else { continue }
        if let entry = take(key, shown) { return entry }
      case .timedOut where decoder.isInEscape:
        if let key = decoder.endEscape(), let entry = take(key, shown) { return entry }
      case .rung, .timedOut:
        let earlier = shown
        shown = prompt()
        if shown != earlier || picture != drawn(shown, editor.line) { draw(shown) }
      case .ended: return .closed
      }
    }
  }

  private mutating func take(_ key: Key, _ shown: SessionPrompt) -> SessionEntry? {
    var shown = shown
    shown.notices = []
    let outcome = editor.take(key)
    switch outcome {
    case .editing:
      isBehind = input.hasByte
      if !isBehind { draw(shown) }
    case .completing: complete(shown)
    case .clearsScreen:
      console.draw("\u{1B}[H\u{1B}[2J")
      picture = nil
      draw(shown)
    case .suspended:
      leave()
      input.mode.endEditing()
      Console.suspend()
      input.mode.beginEditing()
      draw(shown)
    case .cleared:
      leave()
      return .cleared
    case .ended:
      leave()
      return .ended
    case .accepted(let text):
      if isBehind { draw(shown, LineText(text)) }
      leave()
      keep(text)
      return .text(text, line: nil)
    }
    return nil
  }

  /// Adds an input to the history file, as the editor added it to its own.
  private mutating func keep(_ text: String) {
    guard let file, editor.history.entries.last == text else { return }
    do {
      try file.add(text)
    } catch {
      if !hasWarnedOfHistory { Self.warn(of: error, file, console) }
      hasWarnedOfHistory = true
    }
  }

  private static func warn(of error: SystemError, _ file: HistoryFile?, _ console: Console) {
    let path = CellText.visible(file?.path ?? "")
    console.warn("warning: the history of inputs is not kept in \(path): \(error)")
  }

  // Drawing

  private func drawn(_ shown: SessionPrompt, _ line: LineText) -> LinePicture {
    let terminal = size()
    let prompt = editor.search.map { search in
      "\(search.hasMatch ? "search" : "no match"): \(search.query)  "
    }
    let first = prompt ?? shown.text
    let open = ShellLine.open(in: line.text).map { " \($0)> " } ?? "  > "
    let others =
      String(repeating: " ", count: max(0, DisplayWidth.of(first) - open.count)) + open
    return LinePicture(
      of: line, prompts: LinePicture.Prompts(first: first, others: others),
      width: terminal.width ?? Terminal.usualWidth, height: terminal.height)
  }

  /// - Parameter line: The input, if the editor has handed it over.
  private mutating func draw(_ shown: SessionPrompt, _ line: LineText? = nil) {
    var text = ""
    if !shown.notices.isEmpty {
      text += LinePicture.erasing(picture)
      picture = nil
      for notice in shown.notices { text += notice + "\r\n" }
    }
    let next = drawn(shown, line ?? editor.line)
    // A terminal of another width has moved the rows itself, as this picture has them.
    let present = size().width ?? Terminal.usualWidth
    if present != width, picture != nil { picture = next }
    width = present
    let palette = console.talkTerminal.palette
    text += next.drawn(over: picture) { row in
      guard row.hasPrefix(shown.text) else { return row }
      return palette.dressed(shown.text, as: .heading) + row.dropFirst(shown.text.count)
    }
    picture = next
    isBehind = false
    console.draw(text)
  }

  /// Leaves the input on the screen; the next output follows it.
  private mutating func leave() {
    if let picture { console.draw(picture.left) }
    picture = nil
  }

  private mutating func complete(_ shown: SessionPrompt) {
    let found = completions(editor.line.before)
    if let text = found.extended {
      editor.complete(last: found.word.count, with: text)
      draw(shown)
      return
    }
    guard found.candidates.count > 1 else { return }
    leave()
    let terminal = size()
    console.draw(
      CompletedInput.columns(found.candidates, width: terminal.width ?? Terminal.usualWidth))
    draw(shown)
  }
}
