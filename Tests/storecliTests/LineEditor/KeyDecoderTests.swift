import Testing

@testable import StoreCommand

/// What the bytes of a terminal mean.
@Suite(.tags(.unit)) struct KeyDecoderTests {
  private func keys(_ bytes: [UInt8]) -> [Key] {
    var decoder = KeyDecoder()
    return bytes.compactMap { decoder.take($0) }
  }

  private func keys(_ text: String) -> [Key] { keys(Array(text.utf8)) }

  @Test func charactersArriveWhole() {
    #expect(keys("aä漢👍") == [.text("a"), .text("ä"), .text("漢"), .text("👍")])
  }

  @Test func brokenCharactersAreShownAsOne() {
    #expect(keys([0xFF, 0x61]) == [.text("\u{FFFD}"), .text("a")])
    #expect(keys([0xE6, 0xBC, 0x61]) == [.text("\u{FFFD}a")])
    #expect(keys([0x80]) == [.text("\u{FFFD}")])
    #expect(keys([0xE6, 0xBC, 0x1B, 0x5B, 0x44]) == [.text("\u{FFFD}"), .left])
  }

  @Test(arguments: [
    ("\u{1B}[A", Key.up), ("\u{1B}OA", .up), ("\u{1B}[B", .down), ("\u{1B}[C", .right),
    ("\u{1B}[D", .left), ("\u{1B}[1;5C", .wordRight), ("\u{1B}[1;5D", .wordLeft),
    ("\u{1B}[1;3D", .wordLeft), ("\u{1B}b", .wordLeft), ("\u{1B}f", .wordRight),
    ("\u{1B}[H", .home), ("\u{1B}[1~", .home), ("\u{1B}OH", .home), ("\u{1B}[F", .end),
    ("\u{1B}[4~", .end), ("\u{1B}[3~", .delete), ("\u{1B}d", .killWordRight),
    ("\u{1B}\u{7F}", .killWordLeft), ("\u{1}", .home), ("\u{5}", .end), ("\u{B}", .killToEnd),
    ("\u{15}", .killToStart), ("\u{17}", .killWordLeft), ("\u{19}", .yank), ("\u{12}", .search),
    ("\u{7}", .cancel), ("\u{3}", .interrupt), ("\u{4}", .deleteOrEnd), ("\r", .enter),
    ("\n", .enter), ("\t", .tab), ("\u{7F}", .backspace), ("\u{1B}\r", .newLine),
    ("\u{C}", .clearScreen), ("\u{1A}", .suspend),
  ])
  func keysOfTheKeyboard(bytes: String, key: Key) {
    #expect(keys(bytes) == [key])
  }

  @Test func unknownSequencesDoNothing() {
    #expect(keys("\u{1B}[15~\u{1B}[?1;2ca\u{1B}[200a") == [.text("a")])
    #expect(keys("\u{1B}[" + String(repeating: "1", count: 100) + "Ab").last == .text("b"))
  }

  @Test func aPasteIsOneKeyWithItsLineEnds() {
    #expect(
      keys("\u{1B}[200~SELECT 1\r\nFROM\ra\u{3}\u{1B}[A\u{1B}[201~x")
        == [.paste("SELECT 1\nFROM\na\u{3}\u{1B}[A"), .text("x")])
  }

  @Test func anEscapeAloneIsAKeyIfNothingFollows() {
    var decoder = KeyDecoder()
    #expect(decoder.take(0x1B) == nil && decoder.isInEscape)
    #expect(decoder.endEscape() == .cancel && !decoder.isInEscape)
    #expect(decoder.endEscape() == nil)
  }
}
