import Testing

@testable import RecordFormats

@Suite(.tags(.unit)) struct Base64Tests {
  @Test(arguments: [
    ("", ""), ("f", "Zg=="), ("fo", "Zm8="), ("foo", "Zm9v"), ("foob", "Zm9vYg=="),
    ("fooba", "Zm9vYmE="), ("foobar", "Zm9vYmFy"),
  ])
  func encodesTheVectorsOfTheStandard(plain: String, encoded: String) {
    #expect(Base64.encoded(Array(plain.utf8)) == encoded)
    #expect(Base64.decoded(encoded) == Array(plain.utf8))
  }

  @Test(arguments: [
    "Zg", "Zg=", "Zh==", "Zm9=", "Zm 9v", "Z===", "====", "Zg==Zg==", "Zm-_", "é===",
  ])
  func refusesEverythingButTheCanonicalForm(text: String) {
    #expect(Base64.decoded(text) == nil)
  }

  @Test func decodingUndoesEncoding() {
    let seed: UInt64 = 11
    var generator = SeededGenerator(seed: seed)
    for _ in 0..<500 {
      let bytes = generator.bytes(countMax: 40)
      #expect(Base64.decoded(Base64.encoded(bytes)) == bytes, "seed \(seed)")
    }
  }
}
