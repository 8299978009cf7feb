import Testing

/// An undo needs what a direct write of the same records would need.
@Suite(.tags(.process)) struct UndoValidatorsTests {
  private func journaled() throws -> Workplace {
    let place = try Workplace()
    try place.makeMusic()
    try #require(try place.run("journal", "on").code == 0)
    return place
  }

  private func name(_ place: Workplace) throws -> String {
    try place.run("get", "Artist", "2", "--fields", "name").out
  }

  /// Album has a validator in Swift and a field that follows Artist.name.
  @Test func aChangeThatReachesAModelOnlyThroughABindingIsUndoneAndRedone() throws {
    let place = try journaled()
    let before = try name(place)
    let changed = try place.run("update", "Artist", "2", "name=Bells")
    #expect(changed.err.hasSuffix("undo with storecli undo\n"), "\(changed)")
    for words in [["undo", "-n"], ["undo"]] {
      #expect(try place.run(words).code == 0)
    }
    #expect(try name(place) == before)
    #expect(try place.run("redo").code == 0)
    #expect(try name(place) == "Bells\n")
    #expect(try place.run("get", "Album", "4", "--fields", "artistName").out == "Bells\n")
  }

  /// The undo of a deletion inserts the albums itself, which a direct insert refuses too.
  @Test func anUndoThatWritesAModelWithValidatorsSaysHow() throws {
    let place = try journaled()
    let deleted = try place.run("delete", "Artist", "3")
    #expect(
      deleted.err.hasSuffix("undo with storecli undo --skip-code-validators\n"), "\(deleted)")
    let refusal = Outcome(
      code: 4, out: "",
      err: """
        error[codeValidators]: Nothing was changed: this would write Album, which has validators in \
        Swift that only its own program can run: Album.notBeforeArtist. Take it back with that \
        program, or without its validators.
        hint: storecli undo --skip-code-validators

        """)
    #expect(try place.run("undo") == refusal)
    #expect(try place.run("undo", "-n") == refusal)
    #expect(try place.run("query", "Album", "artistID = 3", "--count").out == "0\n")
    #expect(try place.run("undo", "--skip-code-validators").code == 0)
    #expect(try place.run("query", "Album", "artistID = 3", "--count").out == "3\n")
    let redone = try place.run("redo")
    #expect(
      redone.code == 4 && redone.err.hasSuffix("hint: storecli redo --skip-code-validators\n"),
      "\(redone)")
    #expect(try place.run("redo", "--skip-code-validators").code == 0)
    #expect(try place.run("query", "Album", "artistID = 3", "--count").out == "0\n")
  }

  @Test func theHintRepeatsTheNumberOfSteps() throws {
    let place = try journaled()
    try place.run("delete", "Artist", "3")
    try place.run("delete", "Artist", "4")
    for words in [["undo", "2"], ["undo", "2", "-n"]] {
      let refused = try place.run(words)
      #expect(
        refused.code == 4
          && refused.err.hasSuffix("hint: storecli undo 2 --skip-code-validators\n"), "\(refused)")
    }
  }
}
