import RecordFormats

/// A sink and what it was given, taking at most `maxByteCount` bytes at a time.
struct Collected {
  private final class Taken {
    var bytes: [UInt8] = []
    var drainCount = 0
  }

  let sink: ByteSink
  private let taken: Taken

  init(maxByteCount: Int = .max) {
    let taken = Taken()
    self.taken = taken
    sink = ByteSink { offered in
      let some = offered.prefix(maxByteCount)
      taken.bytes.append(contentsOf: some)
      taken.drainCount += 1
      return some.count
    }
  }

  var bytes: [UInt8] { taken.bytes }
  var drainCount: Int { taken.drainCount }
  var text: String { String(decoding: bytes, as: UTF8.self) }
}

extension ByteSource {
  /// Hands out `bytes` in pieces of at most `chunkByteCount`.
  static func bytes(_ bytes: some Sequence<UInt8>, chunkByteCount: Int = .max) -> ByteSource {
    var rest = Array(bytes)[...]
    return ByteSource { buffer in
      let chunk = rest.prefix(min(chunkByteCount, buffer.count))
      buffer.copyBytes(from: chunk)
      rest = rest.dropFirst(chunk.count)
      return chunk.count
    }
  }
}
