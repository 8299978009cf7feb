/// What a person presses, as an editing command.
enum Key: Hashable, Sendable {
  /// A character, or a part of one.
  case text(String)
  /// A text that the terminal marks as pasted.
  case paste(String)
  case enter
  /// A line end that never ends the input.
  case newLine
  case tab
  case left, right, wordLeft, wordRight, home, end
  case up, down
  case backspace, delete
  case killToStart, killToEnd, killWordLeft, killWordRight, yank
  case search
  /// Ctrl-G, or Escape alone.
  case cancel
  /// Ctrl-C.
  case interrupt
  /// Ctrl-D.
  case deleteOrEnd
  /// Ctrl-L.
  case clearScreen
  /// Ctrl-Z.
  case suspend
}

/// Makes keys of the bytes of a terminal, one byte at a time. It is a pure state machine.
///
/// ```
/// ground ──ESC──> escape ──[──> sequence ──final byte──> ground
///    │                └────O──> one byte ──────────────> ground
///    ├──first byte of UTF-8──> character ──last byte───> ground
///    └──ESC [ 200 ~──> paste ──ESC [ 201 ~─────────────> ground
/// ```
struct KeyDecoder {
  private enum State {
    case ground
    case escape
    case sequence([UInt8])
    case oneByte
    case character([UInt8], length: Int)
    case paste([UInt8])
  }

  private var state = State.ground

  /// Whether an Escape has come that may be a key of its own: if no byte follows soon, call
  /// ``endEscape()``.
  var isInEscape: Bool {
    if case .escape = state { true } else { false }
  }

  /// Whether the bytes so far end in the middle of a key.
  var isInKey: Bool {
    if case .ground = state { false } else { true }
  }

  /// Returns the Escape key.
  mutating func endEscape() -> Key? {
    guard isInEscape else { return nil }
    state = .ground
    return .cancel
  }

  /// Returns the key that `byte` completes; nil if it completes none.
  mutating func take(_ byte: UInt8) -> Key? {
    switch state {
    case .ground: return begin(byte)
    case .escape: return escaped(byte)
    case .oneByte:
      state = .ground
      return Self.key(ofSequence: [byte])
    case .sequence(var bytes):
      bytes.append(byte)
      guard (0x40...0x7E).contains(byte) else {
        // A sequence of such a length is noise.
        state = bytes.count < 32 ? .sequence(bytes) : .ground
        return nil
      }
      state = bytes == Self.pasteStart ? .paste([]) : .ground
      return Self.key(ofSequence: bytes)
    case .character(var bytes, let length):
      guard byte & 0xC0 == 0x80 else {
        state = .ground
        // The broken character is shown as one, and this byte begins the next key.
        let next = begin(byte)
        if case .text(let text) = next { return .text("\u{FFFD}" + text) }
        return next ?? .text("\u{FFFD}")
      }
      bytes.append(byte)
      guard bytes.count == length else {
        state = .character(bytes, length: length)
        return nil
      }
      state = .ground
      return .text(String(decoding: bytes, as: UTF8.self))
    case .paste(var bytes):
      bytes.append(byte)
      guard bytes.suffix(Self.pasteEnd.count).elementsEqual(Self.pasteEnd) else {
        state = .paste(bytes)
        return nil
      }
      state = .ground
      return .paste(Self.pasted(bytes.dropLast(Self.pasteEnd.count)))
    }
  }

  private static let pasteStart = Array("200~".utf8)
  private static let pasteEnd = Array("\u{1B}[201~".utf8)

  /// Line ends arrive as the Enter key sends them.
  private static func pasted(_ bytes: some Sequence<UInt8>) -> String {
    String(decoding: Array(bytes), as: UTF8.self)
      .replacing("\r\n", with: "\n").replacing("\r", with: "\n")
  }

  private mutating func begin(_ byte: UInt8) -> Key? {
    switch byte {
    case 0x1B:
      state = .escape
      return nil
    case 0x20..<0x7F: return .text(String(UnicodeScalar(byte)))
    case 0xC2...0xDF: return wait(byte, length: 2)
    case 0xE0...0xEF: return wait(byte, length: 3)
    case 0xF0...0xF4: return wait(byte, length: 4)
    case 0x80...: return .text("\u{FFFD}")
    default: return Self.controls[byte]
    }
  }

  private mutating func wait(_ byte: UInt8, length: Int) -> Key? {
    state = .character([byte], length: length)
    return nil
  }

  private static let controls: [UInt8: Key] = [
    0x01: .home, 0x02: .left, 0x03: .interrupt, 0x04: .deleteOrEnd, 0x05: .end, 0x06: .right,
    0x07: .cancel, 0x08: .backspace, 0x09: .tab, 0x0A: .enter, 0x0B: .killToEnd,
    0x0C: .clearScreen, 0x0D: .enter, 0x0E: .down, 0x10: .up, 0x12: .search, 0x15: .killToStart,
    0x17: .killWordLeft, 0x19: .yank, 0x1A: .suspend, 0x7F: .backspace,
  ]

  private mutating func escaped(_ byte: UInt8) -> Key? {
    state = .ground
    switch byte {
    case UInt8(ascii: "["): state = .sequence([])
    case UInt8(ascii: "O"): state = .oneByte
    case 0x1B: state = .escape
    case UInt8(ascii: "b"), UInt8(ascii: "B"): return .wordLeft
    case UInt8(ascii: "f"), UInt8(ascii: "F"): return .wordRight
    case UInt8(ascii: "d"), UInt8(ascii: "D"): return .killWordRight
    case 0x7F, 0x08: return .killWordLeft
    case 0x0D, 0x0A: return .newLine
    default: break
    }
    return nil
  }

  /// The key of a control sequence without its introducer; nil for a key without a meaning here.
  private static func key(ofSequence bytes: [UInt8]) -> Key? {
    guard let last = bytes.last else { return nil }
    let parameters = bytes.dropLast().split(separator: UInt8(ascii: ";"))
      .map { String(decoding: $0, as: UTF8.self) }
    // 5 is Ctrl and 3 is Alt: https://invisible-island.net/xterm/ctlseqs/ctlseqs.html
    let isByWord = parameters.count == 2 && ["3", "5"].contains(parameters[1])
    switch last {
    case UInt8(ascii: "A"): return .up
    case UInt8(ascii: "B"): return .down
    case UInt8(ascii: "C"): return isByWord ? .wordRight : .right
    case UInt8(ascii: "D"): return isByWord ? .wordLeft : .left
    case UInt8(ascii: "F"): return .end
    case UInt8(ascii: "H"): return .home
    case UInt8(ascii: "~"):
      switch parameters.first {
      case "1", "7": return .home
      case "4", "8": return .end
      case "3": return .delete
      default: return nil
      }
    default: return nil
    }
  }
}
