/// The bytes of a file in memory, in blocks, so that growing copies nothing.
struct MemoryBytes: Sendable {
  /// How many bytes the file has.
  private(set) var count = 0
  private var blocks: [[UInt8]] = []

  private static let blockSize = 64 * 1024

  /// Copies bytes from `offset` on.
  ///
  /// - Returns: How many were copied: fewer than asked for at the end of the file.
  func read(into target: UnsafeMutableRawBufferPointer, at offset: Int) -> Int {
    let wanted = max(0, min(target.count, count - offset))
    var copied = 0
    while copied < wanted {
      let (block, start) = (offset + copied).quotientAndRemainder(dividingBy: Self.blockSize)
      let length = min(wanted - copied, Self.blockSize - start)
      blocks[block].withUnsafeBytes { bytes in
        let part = UnsafeRawBufferPointer(rebasing: bytes[start..<start + length])
        target.baseAddress?.advanced(by: copied).copyMemory(from: part)
      }
      copied += length
    }
    return copied
  }

  /// Replaces bytes from `offset` on. The file grows as needed; a gap has zeros.
  mutating func write(_ source: UnsafeRawBufferPointer, at offset: Int) {
    let end = offset + source.count
    grow(to: end)
    var copied = 0
    while copied < source.count {
      let (block, start) = (offset + copied).quotientAndRemainder(dividingBy: Self.blockSize)
      let length = min(source.count - copied, Self.blockSize - start)
      let part = UnsafeRawBufferPointer(rebasing: source[copied..<copied + length])
      blocks[block].withUnsafeMutableBytes { bytes in
        UnsafeMutableRawBufferPointer(rebasing: bytes[start..<start + length])
          .copyMemory(from: part)
      }
      copied += length
    }
  }

  private mutating func grow(to end: Int) {
    while blocks.count * Self.blockSize < end {
      blocks.append([UInt8](repeating: 0, count: Self.blockSize))
    }
    count = max(count, end)
  }

  /// Sets the size: removes everything from `end` on, or adds zeros up to `end`.
  mutating func truncate(to end: Int) {
    guard end < count else { return grow(to: end) }
    count = end
    let (full, rest) = end.quotientAndRemainder(dividingBy: Self.blockSize)
    blocks.removeSubrange((full + (rest == 0 ? 0 : 1))...)
    // If the file grows again, it has zeros here.
    if rest > 0 {
      blocks[full].replaceSubrange(
        rest..., with: repeatElement(0, count: Self.blockSize - rest))
    }
  }
}

extension UnsafeMutableRawPointer {
  /// Copies all of `bytes` to here.
  fileprivate func copyMemory(from bytes: UnsafeRawBufferPointer) {
    guard let start = bytes.baseAddress else { return }
    copyMemory(from: start, byteCount: bytes.count)
  }
}
