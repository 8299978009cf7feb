import RecordFormats

/// How many lines of a screen a text takes, counted while it is written.
struct ScreenLines {
  private let width: Int
  private(set) var count = 0
  private var line: [UInt8] = []

  init(width: Int) {
    self.width = max(width, 1)
  }

  /// A line of more bytes surely takes the whole screen.
  private static let lineSizeMax = 1 << 16

  mutating func add(_ bytes: [UInt8]) {
    for byte in bytes {
      if byte == UInt8(ascii: "\n") {
        count += rows
        line.removeAll(keepingCapacity: true)
      } else {
        line.append(byte)
        guard line.count >= Self.lineSizeMax else { continue }
        count += rows
        line.removeAll(keepingCapacity: true)
      }
    }
  }

  /// The screen lines of ``line``, which colours do not make longer.
  private var rows: Int {
    let text = String(decoding: line, as: UTF8.self).replacing(/\u{1B}\[[0-9;]*m/, with: "")
    return max((DisplayWidth.of(text) + width - 1) / width, 1)
  }
}
