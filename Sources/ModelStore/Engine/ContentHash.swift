/// A digest of records: equal for equal records, whatever the file's history.
///
/// Two stores, models or queries have the same content hash when they have the same records. The
/// order of writes, earlier deletions, the layout of the file and its change journal make no
/// difference. One different value gives another hash, for example a real 1.0 instead of an integer
/// 1.
///
/// You can store its text and compare it later: the same records have the same hash in every
/// version of the library. It is a SHA-256, so it also detects records that were changed on
/// purpose.
public struct ContentHash: Hashable, Sendable, LosslessStringConvertible {
  /// The 32 bytes of the digest.
  let bytes: [UInt8]

  init(_ digest: consuming SHA256) {
    bytes = digest.finish()
  }

  /// Creates the hash whose text is `description`: 64 hexadecimal digits.
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
