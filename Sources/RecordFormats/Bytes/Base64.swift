#if canImport(FoundationEssentials)
  import FoundationEssentials
#else
  import Foundation
#endif

/// Base64 as RFC 4648 section 4 has it, with padding. Not the URL alphabet.
package enum Base64 {
  /// The encoding of `bytes`.
  package static func encoded(_ bytes: [UInt8]) -> String {
    Data(bytes).base64EncodedString()
  }

  /// The bytes that `text` encodes; nil when it is not the one canonical encoding of any bytes
  /// (a foreign letter, white space, missing padding, stray bits in the last digit).
  package static func decoded(_ text: some StringProtocol) -> [UInt8]? {
    // Foundation drops stray bits in the last digit, which the encoding then lacks.
    guard let data = Data(base64Encoded: String(text)),
      data.base64EncodedString().utf8.elementsEqual(text.utf8)
    else { return nil }
    return [UInt8](data)
  }
}
