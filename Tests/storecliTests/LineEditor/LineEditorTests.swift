import Testing

@testable import StoreCommand

/// Keys in, text and cursor out. The cursor is a `|`.
@Suite(.tags(.unit)) struct LineEditorTests {
  private func editor(_ history: [String] = []) -> LineEditor {
    LineEditor(history: InputHistory(history)) { $0.hasSuffix("\\") }
  }

  private func shown(_ editor: LineEditor) -> String {
    editor.line.before + "|" + editor.line.after
  }

  /// Types bytes.
  private func type(_ text: String, into editor: inout LineEditor) -> [LineEditor.Outcome] {
    var decoder = KeyDecoder()
    return text.utf8.compactMap { decoder.take($0) }.map { editor.take($0) }
      .filter { $0 != .editing }
  }

  private func after(_ text: String, history: [String] = []) -> String {
    var editor = editor(history)
    _ = type(text, into: &editor)
    return shown(editor)
  }

  @Test(arguments: [
    ("abc\u{1B}[D\u{1B}[Dx", "ax|bc"), ("abc\u{1}x\u{5}y", "xabcy|"), ("漢字\u{7F}", "漢|"),
    ("e\u{301}\u{7F}", "|"), ("one two-three\u{1B}b", "one two-|three"),
    ("one two\u{1B}b\u{1B}b\u{1B}f", "one| two"), ("one two\u{17}", "one |"),
    ("one two\u{17}\u{1}\u{19}", "two|one "), ("one two\u{1B}b\u{B}", "one |"),
    ("one two\u{1B}b\u{15}", "|two"), ("ab\u{1B}[D\u{1B}[3~", "a|"), ("ab\u{1}\u{4}", "|b"),
    ("one two\u{1}\u{1B}d", "| two"), ("a\u{1B}[D\u{1B}[D\u{1B}[D\u{1B}[C\u{1B}[C", "a|"),
    ("\u{7F}\u{1B}[3~\u{17}\u{15}\u{B}\u{19}", "|"),
  ])
  func editing(typed: String, line: String) {
    #expect(after(typed) == line)
  }

  @Test func anUnfinishedInputGoesOnInTheNextLine() {
    var editor = editor()
    #expect(type("a\\\rbc", into: &editor) == [])
    #expect(shown(editor) == "a\\\nbc|")
    _ = editor.take(.up)
    #expect(shown(editor) == "a\\|\nbc")
    _ = editor.take(.home)
    _ = editor.take(.down)
    #expect(shown(editor) == "a\\\n|bc")
    #expect(type("\r", into: &editor) == [.accepted("a\\\nbc")])
    #expect(shown(editor) == "|")
  }

  @Test func killingAtTheEdgeOfALineJoinsLines() {
    #expect(after("a\u{1B}\rb\u{1}\u{15}") == "a|b")
    #expect(after("a\u{1B}\rb\u{1B}[A\u{5}\u{B}") == "a|b")
  }

  @Test func aPasteWithLineEndsIsNotRun() {
    var editor = editor()
    #expect(type("\u{1B}[200~a\rb\u{1B}[201~", into: &editor) == [])
    #expect(shown(editor) == "a\nb|")
  }

  @Test func controlKeysEndOrClear() {
    var editor = editor()
    #expect(type("abc\u{3}", into: &editor) == [.cleared])
    #expect(shown(editor) == "|")
    #expect(type("\u{4}", into: &editor) == [.ended])
    #expect(type("\t\u{C}\u{1A}", into: &editor) == [.completing, .clearsScreen, .suspended])
  }

  @Test func earlierInputsComeBackAndTheDraftIsKept() {
    let history = ["one", "two"]
    #expect(after("dr\u{1B}[A", history: history) == "two|")
    #expect(after("dr\u{1B}[A\u{1B}[A\u{1B}[A", history: history) == "one|")
    #expect(after("dr\u{1B}[A\u{1B}[A\u{1B}[B\u{1B}[B\u{1B}[B", history: history) == "dr|")
    var editor = editor(history)
    _ = type("\u{1B}[A!\r", into: &editor)
    #expect(editor.history.entries == ["one", "two", "two!"])
    _ = type("\u{1B}[A\r x\r\r", into: &editor)
    #expect(editor.history.entries == ["one", "two", "two!"])
  }

  @Test func theSearchFindsOlderInputs() {
    let history = ["get Track 1", "models", "get Artist 2"]
    #expect(after("\u{12}get", history: history) == "get Artist 2|")
    #expect(after("\u{12}get\u{12}", history: history) == "get Track 1|")
    #expect(after("\u{12}get T", history: history) == "get Track 1|")
    #expect(after("\u{12}get T\u{7F}", history: history) == "get Artist 2|")
    #expect(after("dr\u{12}get\u{7}", history: history) == "dr|")
    #expect(after("dr\u{12}get\u{3}", history: history) == "dr|")
    #expect(after("\u{12}get\u{1}x", history: history) == "x|get Artist 2")
    var editor = editor(history)
    _ = type("\u{12}mod", into: &editor)
    #expect(editor.search?.query == "mod" && editor.search?.hasMatch == true)
    _ = type("x", into: &editor)
    #expect(editor.search?.hasMatch == false && shown(editor) == "models|")
    #expect(type("\u{7F}\r", into: &editor) == [.accepted("models")])
  }

  @Test func theHistoryIsBounded() {
    var history = InputHistory(["a", "b", "c"], countMax: 2)
    #expect(history.entries == ["b", "c"])
    history.add("d")
    #expect(history.entries == ["c", "d"])
  }
}
