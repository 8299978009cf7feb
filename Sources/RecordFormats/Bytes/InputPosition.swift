/// A position in an input, for error messages.
package struct InputPosition: Hashable, Sendable {
  /// The number of bytes before the position, a byte order mark included.
  package var byteOffset: Int
  /// 1-based; a line ends with a line feed.
  package var line: Int
  /// 1-based, counted in Unicode scalars.
  package var column: Int

  /// The beginning of an input.
  package static let start = InputPosition(byteOffset: 0, line: 1, column: 1)

  /// Returns the position after `bytes` that begin here.
  func advanced(over bytes: some Sequence<UInt8>) -> InputPosition {
    var place = self
    for byte in bytes {
      place.byteOffset += 1
      if byte == UInt8(ascii: "\n") {
        place.line += 1
        place.column = 1
      } else if byte & 0xC0 != 0x80 {
        place.column += 1
      }
    }
    return place
  }
}
