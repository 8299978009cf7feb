#if canImport(Glibc)
  import Glibc
#else
  import Darwin
#endif

/// A buffered destination for bytes. Nothing arrives before the buffer fills or ``flush()`` is
/// called; dropping it without a flush drops what it holds.
final class ByteSink {
  /// Takes some of the bytes and returns how many, at least one.
  typealias Drain = (UnsafeRawBufferPointer) throws(OutputError) -> Int

  private static let byteCountMax = 64 * 1024

  private let drain: Drain
  private var pending: [UInt8] = []

  init(drain: @escaping Drain) {
    self.drain = drain
  }

  /// Writes to an open descriptor that the caller keeps open; waits when it is non-blocking.
  convenience init(descriptor: Int32) {
    self.init { bytes throws(OutputError) in
      try Self.write(bytes, to: descriptor)
    }
  }

  /// Appends what `body` appends, as a whole: when it throws, nothing of it is written.
  func append(_ body: (inout [UInt8]) throws(OutputError) -> Void) throws(OutputError) {
    let countBefore = pending.count
    do {
      try body(&pending)
    } catch {
      pending.removeSubrange(countBefore...)
      throw error
    }
    if pending.count >= Self.byteCountMax { try flush() }
  }

  /// Appends the UTF-8 of `text`.
  func append(_ text: String) throws(OutputError) {
    try append { output throws(OutputError) in output.append(contentsOf: text.utf8) }
  }

  /// Hands everything on. When it throws, what was not taken is dropped: a second flush at exit
  /// must not meet the same error again.
  func flush() throws(OutputError) {
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

  private static func write(
    _ bytes: UnsafeRawBufferPointer, to descriptor: Int32
  ) throws(OutputError) -> Int {
    while true {
      // One who does not read must not keep a command that is asked to end. A pipe that has room
      // takes so many bytes without waiting.
      let isHurried = Interruption.isRequested
      guard !isHurried || isReady(descriptor) else { throw .stalled }
      let size = isHurried ? min(bytes.count, Int(PIPE_BUF)) : bytes.count
      #if canImport(Glibc)
        let count = Glibc.write(descriptor, bytes.baseAddress, size)
      #else
        let count = Darwin.write(descriptor, bytes.baseAddress, size)
      #endif
      if count > 0 { return count }
      let error = SystemError.last
      switch error.number {
      case EINTR: continue
      case EAGAIN:
        // A terminal or pipe shared with another program may have been made non-blocking by it.
        var interest = pollfd(fd: descriptor, events: Int16(POLLOUT), revents: 0)
        _ = poll(&interest, 1, -1)
      case EPIPE: throw .readerClosed
      default: throw .unwritable(error)
      }
    }
  }

  /// How long who reads is given, in milliseconds.
  private static let patience: Int32 = 1000

  private static func isReady(_ descriptor: Int32) -> Bool {
    var interest = pollfd(fd: descriptor, events: Int16(POLLOUT), revents: 0)
    return poll(&interest, 1, patience) != 0
  }
}
