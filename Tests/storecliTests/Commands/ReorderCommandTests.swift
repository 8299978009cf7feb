import ModelStore
import Testing

/// `reorder` moves a record within an ordered list.
@Suite(.tags(.process)) struct ReorderCommandTests {
  /// `mix.db` has nine tracks and three playlists: 1 with the tracks 1 to 4, 2 with 5, 6 and 5
  /// again, 3 with 1.
  private func mixes() throws -> Workplace {
    let place = try Workplace()
    let path = place.path("mix.db")
    try RawDatabase(path).execute(
      """
      CREATE TABLE Playlist(Id INTEGER PRIMARY KEY, Name TEXT);
      CREATE TABLE Track(Id INTEGER PRIMARY KEY, Name TEXT);
      CREATE TABLE Entry(
        Id INTEGER PRIMARY KEY, Owner INT NOT NULL REFERENCES Playlist,
        Element INT NOT NULL REFERENCES Track, Position INT);
      INSERT INTO Playlist VALUES (1, 'one'), (2, 'two'), (3, 'three');
      WITH RECURSIVE n(i) AS (VALUES (1) UNION ALL SELECT i + 1 FROM n WHERE i < 9)
      INSERT INTO Track SELECT i, 'track ' || i FROM n;
      INSERT INTO Entry(Owner, Element, Position)
      VALUES (1, 1, 10), (1, 2, 20), (1, 3, 30), (1, 4, 40), (2, 5, 1), (2, 6, 2), (2, 5, 3), (3, 1, 1);
      """)
    let store = try Store(at: path)
    try store.adopt(["Playlist", "Track"])
    let columns = ListSchema.Columns(owner: "Owner", element: "Element", position: "Position")
    try store.adopt(
      ListSchema(name: "tracks", elementTable: "Track", slotTable: "Entry", columns: columns),
      of: "Playlist")
    store.close()
    place.environment["STORECLI_DB"] = path
    return place
  }

  private func tracks(_ place: Workplace, in playlist: Int = 1) throws -> String {
    try RawDatabase(place.path("mix.db")).value(
      """
      SELECT group_concat(Element) FROM (
        SELECT Element FROM Entry WHERE Owner = \(playlist) ORDER BY Position)
      """)
  }

  @Test(arguments: [
    ("2 --first", "2,1,3,4"), ("2 --last", "1,3,4,2"), ("2 --to 3", "1,3,2,4"),
    ("4 --to 1", "4,1,2,3"), ("2 --after 3", "1,3,2,4"), ("2 --before 4", "1,3,2,4"),
    ("4 --before 2", "1,4,2,3"), ("4 --after 2", "1,2,4,3"), ("3 --to 3", "1,2,3,4"),
    ("3 --before 3", "1,2,3,4"), ("3 --after 3", "1,2,3,4"), ("1 --in 1 --after 4", "2,3,4,1"),
  ])
  func aRecordMovesToThePlace(words: String, result: String) throws {
    let place = try mixes()
    let moved = try place.run(["reorder", "Track"] + words.split(separator: " ").map(String.init))
    #expect(moved.code == 0, "\(moved)")
    #expect(try tracks(place) == result)
    #expect(try tracks(place, in: 2) == "5,6,5" && tracks(place, in: 3) == "1")
  }

  @Test func theChangeIsReportedAndADryRunChangesNothing() throws {
    let place = try mixes()
    let dry = try place.run("reorder", "Track", "4", "--first", "-n", "--ndjson")
    #expect(dry.code == 0 && dry.err.hasPrefix("dry run: "), "\(dry)")
    #expect(
      dry.out.hasPrefix(
        #"{"op":"update","model":"Playlist.tracks","id":4,"changes":{"Position":{"old":40,"new":"#),
      "\(dry)")
    #expect(try tracks(place) == "1,2,3,4")
    let quiet = try place.run("reorder", "Track", "4", "--first", "-q", "--ndjson")
    #expect(quiet == Outcome(code: 0, out: dry.out, err: ""))
    #expect(try tracks(place) == "4,1,2,3")
    let same = try place.run("reorder", "Track", "4", "--first", "--json")
    #expect(same.code == 0 && same.out == "[]\n", "\(same)")
  }

  @Test func aRecordThatOccursTwiceNeedsItsPlace() throws {
    let place = try mixes()
    #expect(
      try place.run("reorder", "Track", "5", "--last")
        == Outcome(
          code: 64, out: "",
          err: """
            error[usage]: Track 5 is in the list more than once, at the places 1, 3.
            hint: add --from PLACE

            """))
    #expect(try place.run("reorder", "Track", "6", "--before", "5").code == 64)
    #expect(try place.run("reorder", "Track", "5", "--last", "--from", "2").code == 3)
    #expect(try place.run("reorder", "Track", "5", "--from", "1", "--last").code == 0)
    #expect(try tracks(place, in: 2) == "6,5,5")
  }

  @Test func theListMustBeKnown() throws {
    let place = try mixes()
    #expect(
      try place.run("reorder", "Track", "1", "--last")
        == Outcome(
          code: 64, out: "",
          err: """
            error[usage]: Track 1 is in Playlist.tracks of 1, Playlist.tracks of 3.
            hint: add --in KEY

            """))
    #expect(
      try place.run("reorder", "Track", "9", "--last")
        == Outcome(
          code: 3, out: "",
          err: "error[recordNotFound]: Track 9 is not in Playlist.tracks.\n"))
    #expect(
      try place.run("reorder", "Track", "2", "--last", "--in", "2").err
        == "error[recordNotFound]: Track 2 is not in Playlist.tracks of 2.\n")
    #expect(try place.run("reorder", "Track", "2", "--after", "9").code == 3)
    #expect(try place.run("reorder", "Track", "2", "--last", "--list", "Playlist.tracks").code == 0)
    #expect(try place.run("reorder", "Track", "2", "--first", "--list", "tracks").code == 0)
    #expect(try place.run("reorder", "Trak", "2", "--first").code == 3)
    for words in [
      ["Track", "2", "--last", "--list", "trakcs"], ["Playlist", "1", "--first"],
      ["Track", "2"], ["Track", "2", "--first", "--last"], ["Track", "2", "--to", "0"],
      ["Track", "2", "--to", "5"], ["Track", "x", "--first"],
    ] {
      #expect(try place.run(["reorder"] + words).code == 64, "\(words)")
    }
    #expect(try tracks(place) == "2,1,3,4")
  }
}
