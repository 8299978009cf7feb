extension String {
  /// Creates the text from UTF-8 `bytes`; nil if they are not UTF-8.
  @inline(__always)
  init?(exactUTF8 bytes: UnsafeBufferPointer<UInt8>) {
    // `String(validating:as:)` does the same, but is not specialised in the library: it goes
    // through the bytes one by one.
    guard let text = String._tryFromUTF8(bytes) else { return nil }
    self = text
  }
}
