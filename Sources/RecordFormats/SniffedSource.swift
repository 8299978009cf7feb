/// A source whose first bytes can be inspected before they are read.
package final class SniffedSource {
  private let source: ByteSource
  private var head: [UInt8] = []
  private var isAtEnd = false

  /// The maximum number of bytes to inspect for the end of the first line.
  private static let headByteCountMax = 64 * 1024

  package init(_ source: ByteSource) {
    self.source = source
  }

  /// Guesses the format from the first character that is not white space. An object that continues
  /// after its first line is JSON. An object that ends there is a line of NDJSON.
  ///
  /// - Parameter fallback: The format of any other input, including input of only white space.
  package func sniff(otherwise fallback: InputFormat) throws(InputError) -> InputFormat {
    while true {
      let blanks: Set<UInt8> = [0x20, 0x09, 0x0A, 0x0D, 0xEF, 0xBB, 0xBF]
      if let start = head.firstIndex(where: { !blanks.contains($0) }) {
        switch head[start] {
        case UInt8(ascii: "["): return .json
        case UInt8(ascii: "{"): return try sniffObject(from: start)
        default: return fallback
        }
      }
      guard try readMore() else { return fallback }
    }
  }

  private func sniffObject(from start: Int) throws(InputError) -> InputFormat {
    while true {
      let end = head[start...].firstIndex(of: UInt8(ascii: "\n"))
      if end != nil || head.count >= Self.headByteCountMax {
        var scanner = JSONElementScanner()
        _ = head[start..<(end ?? head.count)].withUnsafeBufferPointer { scanner.scan($0) }
        return end != nil && scanner.isOpen ? .json : .ndjson
      }
      guard try readMore() else { return .ndjson }
    }
  }

  private func readMore() throws(InputError) -> Bool {
    guard !isAtEnd else { return false }
    let chunk = try source.bytes(atMost: 4096)
    head += chunk
    isAtEnd = chunk.isEmpty
    return !isAtEnd
  }

  /// All bytes of the source, including those already inspected.
  package var replayed: ByteSource {
    ByteSource { buffer throws(InputError) in
      guard !self.head.isEmpty else { return try self.source.read(buffer) }
      let count = min(self.head.count, buffer.count)
      buffer.copyBytes(from: self.head[..<count])
      self.head.removeFirst(count)
      return count
    }
  }
}
