import Testing

@testable import ModelStore

/// The examples of FIPS 180-4 and NIST's test vectors.
@Suite(.tags(.unit)) struct SHA256Tests {
  private static func text(_ digest: consuming SHA256) -> String {
    digest.finish().map { ($0 < 16 ? "0" : "") + String($0, radix: 16) }.joined()
  }

  @Test(arguments: [
    ("", "e3b0c44298fc1c149afbf4c8996fb92427ae41e4649b934ca495991b7852b855"),
    ("abc", "ba7816bf8f01cfea414140de5dae2223b00361a396177a9cb410ff61f20015ad"),
    (
      "abcdbcdecdefdefgefghfghighijhijkijkljklmklmnlmnomnopnopq",
      "248d6a61d20638b8e5c026930c3e6039a33ce45964ff2167f6ecedd419db06c1"
    ),
    (
      "abcdefghbcdefghicdefghijdefghijkefghijklfghijklmghijklmnhijklmnoijklmnopjklmnopqklmnopqrlmnopqrsmnopqrstnopqrstu",
      "cf5b16a778af8380036ce59e7b0492370b249b11e8f07a51afac45037afee9d1"
    ),
  ])
  func aMessageHasTheDigestOfTheStandard(message: String, digest: String) {
    var hash = SHA256()
    hash.update(Array(message.utf8))
    #expect(Self.text(hash) == digest)
  }

  @Test func howAMessageIsCutMakesNoDifference() {
    let message = (0..<300).map { UInt8(truncatingIfNeeded: $0 * 7) }
    var whole = SHA256()
    whole.update(message)
    let expected = Self.text(whole)
    for cut in [1, 3, 55, 56, 63, 64, 65, 128, 299] {
      var parts = SHA256()
      parts.update(Array(message[..<cut]))
      for byte in message[cut...] { parts.update(byte) }
      #expect(Self.text(parts) == expected, "cut at \(cut)")
    }
  }

  @Test func aMillionLettersHaveTheDigestOfTheStandard() {
    var hash = SHA256()
    let letters = [UInt8](repeating: UInt8(ascii: "a"), count: 1000)
    for _ in 0..<1000 { hash.update(letters) }
    #expect(
      Self.text(hash) == "cdc76e5c9914fb9281a1c7e284d73e67f1809a48a497200e046d39ccc7112cd0")
  }
}
