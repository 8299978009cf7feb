#if canImport(Glibc)
  internal import Glibc
#elseif canImport(Musl)
  internal import Musl
#else
  internal import Darwin
#endif

extension String {
  /// Creates the text from UTF-8 `bytes`; nil if they are not UTF-8.
  init?(exactUTF8 bytes: UnsafeBufferPointer<UInt8>) {
    // Decoding replaces invalid UTF-8, so only valid bytes stay unchanged. `String(validating:as:)`
    // would be more direct, but is not specialised in the library.
    var text = String(decoding: bytes, as: UTF8.self)
    let isUnchanged = text.withUTF8 { decoded in
      guard decoded.count == bytes.count else { return false }
      guard let left = decoded.baseAddress, let right = bytes.baseAddress else { return true }
      return memcmp(left, right, bytes.count) == 0
    }
    guard isUnchanged else { return nil }
    self = text
  }
}
