/// A window on an input: the bytes read but not yet consumed. It is contiguous, and grows only for
/// a record that does not fit. Memory is bounded by the longest record, not by the input.
package struct InputBuffer {
  /// How many bytes are read at once.
  package static let chunkByteCount = 64 * 1024
  /// The default limit for one record: well above SQLite's usual values, well below the memory of a
  /// machine.
  package static let recordByteCountMax = 256 * 1024 * 1024

  private let source: ByteSource
  private let maxByteCount: Int
  private var storage = [UInt8](repeating: 0, count: chunkByteCount)
  private var unread = 0..<0

  /// Whether the input ends with the unread bytes.
  package private(set) var isAtEnd = false

  package init(source: ByteSource, recordByteCountMax: Int = InputBuffer.recordByteCountMax) {
    self.source = source
    maxByteCount = recordByteCountMax
  }

  /// The number of unread bytes.
  package var count: Int { unread.count }

  /// Calls `body` with the unread bytes. The pointer is valid only within `body`.
  package func withUnread<Result, Failure: Error>(
    _ body: (UnsafeBufferPointer<UInt8>) throws(Failure) -> Result
  ) throws(Failure) -> Result {
    try storage.withUnsafeBufferPointer { bytes throws(Failure) in
      try body(UnsafeBufferPointer(rebasing: bytes[unread]))
    }
  }

  /// Drops the first `byteCount` unread bytes.
  mutating func consume(_ byteCount: Int) {
    unread = unread.lowerBound + byteCount..<unread.upperBound
  }

  /// Reads more bytes after the unread ones, which begin at `position`, or detects the end.
  ///
  /// - Throws: ``InputError`` when the source fails or the unread bytes may not grow further.
  package mutating func fill(at position: InputPosition) throws(InputError) {
    if unread.lowerBound > 0 {
      let kept = unread
      storage.withUnsafeMutableBytes { bytes in
        bytes.copyMemory(from: UnsafeRawBufferPointer(rebasing: bytes[kept]))
      }
      unread = 0..<unread.count
    }
    if unread.count == storage.count {
      guard storage.count < maxByteCount else {
        throw InputError(.recordTooLong(maxByteCount: maxByteCount), at: position)
      }
      let grown = min(storage.count * 2, maxByteCount)
      storage.append(contentsOf: repeatElement(0, count: grown - storage.count))
    }
    let end = unread.upperBound
    let source = source
    let byteCount = try storage.withUnsafeMutableBufferPointer { bytes throws(InputError) in
      let free = UnsafeMutableBufferPointer(rebasing: bytes[end...])
      return try source.read(UnsafeMutableRawBufferPointer(free))
    }
    if byteCount == 0 { isAtEnd = true }
    unread = unread.lowerBound..<end + byteCount
  }

  /// Drops a byte order mark from the beginning of the input. Call it before you consume anything.
  ///
  /// - Returns: The position after the mark, or the start.
  mutating func skipByteOrderMark() throws(InputError) -> InputPosition {
    while count < 3 && !isAtEnd { try fill(at: .start) }
    let hasMark = withUnread { $0.starts(with: [0xEF, 0xBB, 0xBF]) }
    guard hasMark else { return .start }
    consume(3)
    return InputPosition(byteOffset: 3, line: 1, column: 1)
  }
}
