/// A buffered destination for bytes. Bytes arrive only when the buffer fills or ``flush()`` is
/// called. Dropping the sink without a flush drops the buffered bytes.
package final class ByteSink {
  /// Accepts some of the bytes and returns how many, at least one.
  package typealias Drain = (UnsafeRawBufferPointer) throws(OutputError) -> Int

  private static let maxByteCount = 64 * 1024

  private let drain: Drain
  private var pending: [UInt8] = []

  package init(drain: @escaping Drain) {
    self.drain = drain
  }

  /// Appends the bytes that `body` appends, as a whole: when it throws, none of them is written.
  package func append(_ body: (inout [UInt8]) throws(OutputError) -> Void) throws(OutputError) {
    let countBefore = pending.count
    do {
      try body(&pending)
    } catch {
      pending.removeSubrange(countBefore...)
      throw error
    }
    if pending.count >= Self.maxByteCount { try flush() }
  }

  /// Appends the UTF-8 of `text`.
  package func append(_ text: String) throws(OutputError) {
    try append { output throws(OutputError) in output.append(contentsOf: text.utf8) }
  }

  /// Passes on all buffered bytes. When it throws, the remaining bytes are dropped, so that a
  /// second flush at exit does not meet the same error again.
  package func flush() throws(OutputError) {
    var bytes: [UInt8] = []
    swap(&bytes, &pending)
    try bytes.withUnsafeBufferPointer { all throws(OutputError) in
      var rest = UnsafeRawBufferPointer(all)[...]
      while !rest.isEmpty {
        rest = rest.dropFirst(try drain(UnsafeRawBufferPointer(rebasing: rest)))
      }
    }
    bytes.removeAll(keepingCapacity: true)
    swap(&bytes, &pending)
  }
}
