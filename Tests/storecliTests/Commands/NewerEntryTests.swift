import Testing

/// A file of which a newer program has described one model in a way that this one does not know.
@Suite(.tags(.process)) struct NewerEntryTests {
  private func music(in place: Workplace) throws {
    try place.makeMusic()
    try #require(try place.run("journal", "on").code == 0)
    try RawDatabase(place.path("music.store")).execute(
      "UPDATE _ms_models SET definition = json_set(definition, '$.later', 1) WHERE name = 'Album'")
  }

  @Test func modelsBesideANewerEntryCanBeRead() throws {
    let place = try Workplace()
    try place.makeMusic()
    try place.run("journal", "on")
    let readings = [
      ["query", "Track", "id < 3"], ["get", "Artist", "1"], ["export", "Track"],
      ["query", "--sql", "SELECT count(*) FROM Album"], ["models", "Track"], ["history"],
      ["bindings"], ["journal"], ["consumers"],
    ]
    let before = try readings.map { try place.run($0) }
    try RawDatabase(place.path("music.store")).execute(
      "UPDATE _ms_models SET definition = json_set(definition, '$.later', 1) WHERE name = 'Album'")
    #expect(try readings.map { try place.run($0) } == before)
  }

  @Test func theModelOfANewerEntryIsRefused() throws {
    let place = try Workplace()
    try music(in: place)
    for words in [["query", "Album"], ["get", "Album", "1"], ["models", "Album"]] {
      let outcome = try place.run(words)
      #expect(outcome.code == 6, "\(outcome)")
      #expect(
        outcome.err.hasPrefix("error[newerFormat]: The entry of the model Album has a format "))
    }
  }

  /// What the newer program says of the model may be about records of others, too.
  @Test func nothingIsWrittenBesideANewerEntry() throws {
    let place = try Workplace()
    try music(in: place)
    for words in [["update", "Artist", "1", "name=x"], ["undo"], ["journal", "off"]] {
      let outcome = try place.run(words)
      #expect(outcome.code == 6, "\(words) \(outcome)")
    }
    #expect(try place.run("get", "Artist", "1", "--json").out.contains("\"x\"") == false)
  }

  @Test func commandsOverAllModelsReportIt() throws {
    let place = try Workplace()
    try music(in: place)
    let models = try place.run("models", "-q")
    #expect(models.code == 1 && models.out.contains("Album\t?\t?\t?\t?\t?\tnewer\n"), "\(models)")
    #expect(models.err.hasPrefix("error[newerFormat]: "))
    #expect(try place.run("validate", "-q").code == 1)
    let doctor = try place.run("doctor", "-q")
    #expect(doctor.code == 1 && doctor.out.contains("catalog\tunread\tThe entry of"))
    #expect(try place.run("bindings", "check", "-q").code == 1)
    // Whether the journal's triggers are right cannot be judged here.
    #expect(!doctor.out.contains("\tproblem\t"), "\(doctor)")
  }

  @Test func doctorChecksTheOtherModels() throws {
    let place = try Workplace()
    try music(in: place)
    try RawDatabase(place.path("music.store")).execute(
      "UPDATE Track SET title = CAST(x'41ff' AS TEXT) WHERE id = 3")
    let outcome = try place.run("doctor", "-q")
    let lines = outcome.out.split(separator: "\n")
    #expect(lines.contains { $0.hasPrefix("catalog\tunread\tThe entry of the model Album") })
    #expect(lines.contains("rules\tproblem\tTrack.title must be valid UTF-8: 1 record (3)"))
    // What could not be examined weighs more than what was found.
    #expect(outcome.code == 1 && outcome.err.isEmpty, "\(outcome)")
  }

  @Test func aNewerBindingOrRuleDoesNotBlockReaders() throws {
    let place = try Workplace()
    try place.makeMusic()
    try RawDatabase(place.path("music.store")).execute(
      """
      UPDATE _ms_bindings SET definition = json_set(definition, '$.later', 1);
      UPDATE _ms_validators SET definition = json_set(definition, '$.later', 1);
      """)
    #expect(try place.run("query", "Track", "id = 1").code == 0)
    #expect(try place.run("models").code == 1)
    #expect(try place.run("update", "Artist", "1", "name=x").code == 6)
  }
}
