#if canImport(FoundationEssentials)
  import FoundationEssentials
#else
  import Foundation
#endif

/// Base64 by RFC 4648 section 4, with padding. Not the URL alphabet.
package enum Base64 {
  /// Returns the encoding of `bytes`.
  package static func encoded(_ bytes: [UInt8]) -> String {
    Data(bytes).base64EncodedString()
  }

  /// Returns the bytes that `text` encodes. Returns nil when it is not a canonical encoding: a
  /// foreign letter, white space, missing padding, or stray bits in the last digit.
  package static func decoded(_ text: some StringProtocol) -> [UInt8]? {
    // Foundation ignores stray bits in the last digit. Encoding the result again finds them.
    guard let data = Data(base64Encoded: String(text)),
      data.base64EncodedString().utf8.elementsEqual(text.utf8)
    else { return nil }
    return [UInt8](data)
  }
}
