#if canImport(Glibc)
  internal import Glibc
#else
  internal import Darwin
#endif

extension String {
  /// The text that `bytes` are in UTF-8, or nil when they are not UTF-8.
  init?(exactUTF8 bytes: UnsafeBufferPointer<UInt8>) {
    // Decoding replaces what is not UTF-8, so only valid bytes come back unchanged.
    // `String(validating:as:)` would say it directly, but is not specialised in the library.
    var text = String(decoding: bytes, as: UTF8.self)
    let isUnchanged = text.withUTF8 { decoded in
      guard decoded.count == bytes.count else { return false }
      guard let left = decoded.baseAddress, let right = bytes.baseAddress else { return true }
      return memcmp(left, right, bytes.count) == 0
    }
    guard isUnchanged else { return nil }
    self = text
  }

  /// Whether the bytes are the same. Swift's `==` also holds for texts that only mean the same
  /// characters, which SQLite tells apart.
  func isExactly(_ other: String) -> Bool {
    guard utf8.count == other.utf8.count else { return false }
    let isSame = utf8.withContiguousStorageIfAvailable { left in
      other.utf8.withContiguousStorageIfAvailable { right in
        guard let left = left.baseAddress, let right = right.baseAddress else { return true }
        return memcmp(left, right, other.utf8.count) == 0
      }
    }
    return (isSame ?? nil) ?? utf8.elementsEqual(other.utf8)
  }
}
