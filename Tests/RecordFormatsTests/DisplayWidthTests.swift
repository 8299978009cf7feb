import Testing

@testable import RecordFormats

@Suite(.tags(.unit)) struct DisplayWidthTests {
  @Test(arguments: [
    ("", 0), ("plain", 5), ("é", 1), ("e\u{301}", 1), ("Ａ", 2), ("你好", 4), ("한글", 4),
    ("\u{1112}\u{1161}\u{11AB}", 2), ("ｱ", 1), ("👍", 2), ("👍🏽", 2), ("👨‍👩‍👧", 2), ("🇨🇭", 2),
    ("❤️", 2),
    ("❤", 1), ("1️⃣", 2), ("a\u{200B}b", 2), ("क्षि", 3), ("ש\u{5B8}ל", 2), ("𠀀", 2), ("…", 1),
    ("a\u{FE0F}", 1), ("\u{1FAE0}", 2),
  ])
  func countsTerminalCells(text: String, cells: Int) {
    #expect(DisplayWidth.of(text) == cells)
  }

  @Test(arguments: [
    ("short", 5, "short"), ("longer", 5, "long…"), ("你好吗", 6, "你好吗"), ("你好吗", 5, "你好…"),
    ("你好吗", 4, "你…"), ("ab", 1, "…"), ("ab", 0, ""), ("e\u{301}e\u{301}e\u{301}", 2, "e\u{301}…"),
    ("👨‍👩‍👧👨‍👩‍👧", 3, "👨‍👩‍👧…"),
  ])
  func cutsBetweenCharactersAndShowsIt(text: String, width: Int, expected: String) {
    #expect(DisplayWidth.truncated(text, to: width) == expected)
  }
}
