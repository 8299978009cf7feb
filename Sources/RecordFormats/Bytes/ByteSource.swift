/// The source of an input's bytes, which are read in order and once.
package struct ByteSource {
  /// Fills the beginning of the buffer and returns how many bytes it placed there; 0 at the end.
  package let read: (UnsafeMutableRawBufferPointer) throws(InputError) -> Int

  package init(read: @escaping (UnsafeMutableRawBufferPointer) throws(InputError) -> Int) {
    self.read = read
  }

  /// Returns the next bytes, as many as are available up to `maxByteCount`; none at the end.
  package func bytes(atMost maxByteCount: Int) throws(InputError) -> [UInt8] {
    var chunk = [UInt8](repeating: 0, count: maxByteCount)
    let count = try chunk.withUnsafeMutableBufferPointer { bytes throws(InputError) in
      try read(UnsafeMutableRawBufferPointer(bytes))
    }
    chunk.removeLast(maxByteCount - count)
    return chunk
  }
}
