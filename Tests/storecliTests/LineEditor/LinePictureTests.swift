import Testing

@testable import RecordFormats
@testable import StoreCommand

/// A terminal as far as the editor uses one.
private struct Screen {
  let width: Int
  private(set) var rows: [[String]] = [[]]
  private(set) var row = 0
  private(set) var column = 0

  init(width: Int) { self.width = width }

  /// The rows, without blanks at their ends.
  var text: [String] {
    var lines = rows.map { cells -> String in
      var line = cells.joined()
      while line.last == " " { line.removeLast() }
      return line
    }
    while lines.count > 1, lines.last == "" { lines.removeLast() }
    return lines
  }

  mutating func take(_ text: String) {
    var rest = Array(text.unicodeScalars)[...]
    while let scalar = rest.popFirst() {
      switch scalar {
      case "\r": column = 0
      case "\n":
        row += 1
        if row == rows.count { rows.append([]) }
      case "\u{1B}":
        _ = rest.popFirst()
        let digits = rest.prefix { ("0"..."9").contains($0) }
        rest = rest.dropFirst(digits.count)
        let count = Int(String(String.UnicodeScalarView(digits))) ?? 1
        control(rest.popFirst() ?? "?", count)
      default: put(scalar)
      }
    }
  }

  private mutating func control(_ final: Unicode.Scalar, _ count: Int) {
    switch final {
    case "A": row = max(0, row - count)
    case "B": row = min(rows.count - 1, row + count)
    case "C": column = min(width - 1, column + count)
    case "J":
      rows.removeSubrange((row + 1)...)
      rows[row] = Array(rows[row].prefix(column))
    default: Issue.record("unknown sequence \(final)")
    }
  }

  private mutating func put(_ scalar: Unicode.Scalar) {
    let cells = DisplayWidth.of(String(scalar))
    if cells == 0 {
      // A mark belongs to the cell before it.
      if column > 0, column <= rows[row].count { rows[row][column - 1] += String(scalar) }
      return
    }
    if column + cells > width {
      row += 1
      column = 0
      if row == rows.count { rows.append([]) }
    }
    while rows[row].count < column + cells { rows[row].append(" ") }
    rows[row][column] = String(scalar)
    // A wide character fills a second cell, which is empty text here.
    if cells == 2 { rows[row][column + 1] = "" }
    column += cells
  }
}

/// The rows that an input takes, and the bytes that draw them.
@Suite(.tags(.law)) struct LinePictureTests {
  private let prompts = LinePicture.Prompts(first: "db> ", others: " '> ")

  private func line(_ before: String, _ after: String = "") -> LineText {
    var line = LineText(before + after)
    for _ in 0..<after.count { line.moveLeft() }
    return line
  }

  @Test func longLinesContinueInTheNextRow() {
    let picture = LinePicture(of: line("abcdef", "ghi"), prompts: prompts, width: 8)
    #expect(picture.rows == ["db> abcd", "efghi"])
    #expect(picture.cursor == (1, 2))
  }

  @Test func aFullRowPutsTheCursorIntoTheNext() {
    let picture = LinePicture(of: line("abcd"), prompts: prompts, width: 8)
    #expect(picture.rows == ["db> abcd", ""] && picture.cursor == (1, 0))
  }

  @Test func aWideCharacterIsNotCut() {
    let picture = LinePicture(of: line("abc漢"), prompts: prompts, width: 8)
    #expect(picture.rows == ["db> abc", "漢"] && picture.cursor == (1, 2))
  }

  @Test func laterLinesHaveTheOtherPrompt() {
    let picture = LinePicture(of: line("a\nb", "c"), prompts: prompts, width: 20)
    #expect(picture.rows == ["db> a", " '> bc"] && picture.cursor == (1, 5))
  }

  @Test func controlCharactersCannotSteerTheTerminal() {
    let picture = LinePicture(of: line("\u{1B}[2J\t\u{202E}"), prompts: prompts, width: 40)
    #expect(picture.rows == ["db> \\u{1b}[2J\\t\\u{202e}"])
  }

  @Test func aLongInputShowsTheRowsAroundItsCursor() {
    let text = (1...9).map(String.init).joined(separator: "\n")
    let atEnd = LinePicture(of: line(text), prompts: prompts, width: 20, height: 3)
    #expect(atEnd.rows == [" '> 7", " '> 8", " '> 9"] && atEnd.cursor == (2, 5))
    let atStart = LinePicture(
      of: line("1", String(text.dropFirst())), prompts: prompts, width: 20, height: 3)
    #expect(atStart.rows == ["db> 1", " '> 2", " '> 3"] && atStart.cursor == (0, 5))
  }

  /// Whatever is typed, the screen shows the picture, and the cursor stands where the next
  /// character goes.
  @Test(arguments: UInt64(1)...40)
  func theScreenShowsThePicture(seed: UInt64) {
    var random = SeededGenerator(seed: seed)
    let width = Int.random(in: 6...30, using: &random)
    var screen = Screen(width: width)
    var editor = LineEditor(history: InputHistory(["SELECT 漢字 FROM t", "a\nb\nc"])) { _ in true }
    var earlier: LinePicture?
    let keys: [Key] = [
      .left, .right, .up, .down, .home, .end, .wordLeft, .wordRight, .backspace, .delete, .enter,
      .killToEnd, .killToStart, .killWordLeft, .yank, .search, .cancel,
    ]
    for step in 1...120 {
      let types = Bool.random(using: &random)
      let key =
        types
        ? Key.text(
          ["a", "漢", "e\u{301}", " ", "\u{1B}", "x_9"].randomElement(using: &random) ?? "")
        : keys.randomElement(using: &random) ?? .left
      _ = editor.take(key)
      let picture = LinePicture(of: editor.line, prompts: prompts, width: width)
      screen.take(picture.drawn(over: earlier))
      earlier = picture
      var rows = picture.rows.map { row -> String in
        var row = row
        while row.last == " " { row.removeLast() }
        return row
      }
      while rows.count > 1, rows.last == "" { rows.removeLast() }
      #expect(screen.text == rows, "seed \(seed), step \(step), \(key)")
      #expect(
        screen.row == picture.cursor.row && screen.column == picture.cursor.column,
        "seed \(seed), step \(step), \(key)")
    }
    screen.take(LinePicture.erasing(earlier))
    #expect(screen.text == [""] && screen.row == 0 && screen.column == 0, "seed \(seed)")
  }
}
