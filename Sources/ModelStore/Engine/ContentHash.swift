/// A digest of records: equal for equal records, whatever the file's history.
///
/// Two stores, models or queries have the same content hash when they have the same records. It
/// makes no difference in which order the records were written, what was deleted in between, how
/// the file is laid out, or whether it has a change journal. One value that differs gives another
/// hash, also an integer that became a real.
///
/// You can keep its text and compare it later: the same records have the same hash in every version
/// of the library. It is a SHA-256, so equal hashes mean equal records, also where somebody chose
/// the records to deceive you.
public struct ContentHash: Hashable, Sendable, LosslessStringConvertible {
  /// The 32 bytes of the digest.
  let bytes: [UInt8]

  init(_ digest: consuming SHA256) {
    bytes = digest.finish()
  }

  /// The hash whose text is `description`: 64 hexadecimal digits.
  ///
  /// - Returns: nil for any other text.
  public init?(_ description: String) {
    let digits = description.compactMap { $0.isASCII ? $0.hexDigitValue : nil }
    guard digits.count == description.count, digits.count == 2 * SHA256.byteCount else {
      return nil
    }
    bytes = stride(from: 0, to: digits.count, by: 2).map { index in
      UInt8(digits[index] << 4 | digits[index + 1])
    }
  }

  /// 64 hexadecimal digits, in lower case.
  public var description: String {
    bytes.map { byte in (byte < 16 ? "0" : "") + String(byte, radix: 16) }.joined()
  }
}
