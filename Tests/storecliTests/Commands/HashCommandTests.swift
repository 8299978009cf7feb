import Testing

@Suite(.tags(.process)) struct HashCommandTests {
  @Test func recordsThatDifferHaveAnotherHash() throws {
    let place = try Workplace()
    try place.makeMusic()
    func hash(_ words: String...) throws -> String {
      let outcome = try place.run(["hash"] + words)
      #expect(outcome.code == 0 && outcome.err == "", "\(outcome)")
      #expect(outcome.out.count == 65 && outcome.out.allSatisfy { $0.isHexDigit || $0 == "\n" })
      return outcome.out
    }
    let before = [try hash(), try hash("Artist"), try hash("Track"), try hash("Artist", "id > 1")]
    #expect(Set(before).count == 4)
    try place.run("update", "Artist", "1", "founded=1901")
    let changed = [try hash(), try hash("Artist"), try hash("Track"), try hash("Artist", "id > 1")]
    #expect(zip(before, changed).map { $0 == $1 } == [false, false, true, true])
    try place.run("update", "Artist", "1", "founded=1996")
    #expect(try hash() == before[0])
  }

  @Test func theHashIsOneValueInEveryFormat() throws {
    let place = try Workplace()
    try place.makeMusic()
    let hash = try place.run("hash", "Album").out.dropLast()
    #expect(try place.run("hash", "Album", "--ndjson").out == "{\"hash\":\"\(hash)\"}\n")
    #expect(try place.run("hash", "Album", "--csv").out == "hash\r\n\(hash)\r\n")
    #expect(try place.run("hash", "Albun").code == 3)
    #expect(try place.run("hash", "Album", "nothing = 1").code == 64)
    #expect(
      try place.run("hash", "Album", "--where", "id > 1") == place.run("hash", "Album", "id > 1"))
    #expect(try place.run("hash", "--where", "id > 1").code == 64)
    #expect(try place.run("hash", "-d", "missing.db").code == 3)
  }
}
