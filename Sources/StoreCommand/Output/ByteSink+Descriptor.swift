import RecordFormats

#if canImport(Glibc)
  import Glibc
#elseif canImport(Musl)
  import Musl
#else
  import Darwin
#endif

extension ByteSink {
  /// Writes to an open descriptor that the caller keeps open; waits when it is non-blocking.
  convenience init(descriptor: Int32) {
    self.init { bytes throws(OutputError) in
      try Self.write(bytes, to: descriptor)
    }
  }

  /// Writes to the open file at `path`, which errors name.
  convenience init(descriptor: Int32, of path: String) {
    self.init { bytes throws(OutputError) in
      do throws(OutputError) {
        return try Self.write(bytes, to: descriptor)
      } catch .unwritable(let error) {
        throw .unwritableFile(path, error)
      }
    }
  }

  private static func write(
    _ bytes: UnsafeRawBufferPointer, to descriptor: Int32
  ) throws(OutputError) -> Int {
    while true {
      // A reader that does not read must not keep an interrupted command running. A pipe that has
      // room takes this number of bytes at once.
      let isHurried = Interruption.isRequested
      guard !isHurried || isReady(descriptor) else { throw .stalled }
      let size = isHurried ? min(bytes.count, Int(PIPE_BUF)) : bytes.count
      #if canImport(Glibc)
        let count = Glibc.write(descriptor, bytes.baseAddress, size)
      #elseif canImport(Musl)
        let count = Musl.write(descriptor, bytes.baseAddress, size)
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

  /// How long the reader has, in milliseconds.
  private static let patience: Int32 = 1000

  private static func isReady(_ descriptor: Int32) -> Bool {
    var interest = pollfd(fd: descriptor, events: Int16(POLLOUT), revents: 0)
    return poll(&interest, 1, patience) != 0
  }
}
