import Foundation
import ModelStore
import Testing

@Suite(.tags(.process)) struct BindingsCommandTests {
  @Test func problemsThatAreFoundAreRepaired() throws {
    let place = try Workplace()
    try place.makeMusic()
    let clean = try place.run("bindings", "check")
    #expect(clean.code == 0, "\(clean)")
    let raw = try RawDatabase(place.path("music.store"))
    let trigger = try raw.value(
      "SELECT name FROM sqlite_schema WHERE name LIKE '\\_ms\\_binding%source\\_update' ESCAPE '\\'"
    )
    try raw.execute("DROP TRIGGER \"\(trigger)\"")
    try raw.execute("UPDATE Artist SET name = 'Nobody' WHERE id = 1")
    let found = try place.run("bindings", "check", "-q")
    #expect(found.code == 2)
    #expect(found.out == "Album.artistName\t\(trigger)\t3\t1 2 3\n")
    let skipping = ["bindings", "rebuild", "--skip-code-validators"]
    let previewed = try place.run(skipping + ["--dry-run"])
    #expect(previewed.code == 0)
    #expect(previewed.err.contains("Album.artistName: 3 records would be updated"))
    #expect(try place.run("bindings", "check").code == 2)
    let mended = try place.run(skipping)
    #expect(mended.code == 0, "\(mended)")
    #expect(mended.err.contains("Album.artistName: 3 records updated"))
    #expect(try place.run("bindings", "check").code == 0)
    #expect(try place.run("doctor", "-q").code == 0)
  }

  @Test func aBindingIsDroppedByName() throws {
    let place = try Workplace()
    try place.makeMusic()
    let near = try place.run("bindings", "drop", "Album.artistNam")
    #expect(near.code == 3)
    #expect(near.err.contains("did you mean Album.artistName?"))
    #expect(try place.run("bindings", "drop", "Album.artistName", "-n").code == 0)
    #expect(try place.run("bindings", "list", "-q").out != "")
    let dropped = try place.run("bindings", "drop", "Album.artistName")
    #expect(dropped.code == 0, "\(dropped)")
    #expect(try place.run("bindings", "list", "-q").out == "")
    #expect(try place.run("update", "Artist", "1", "name=Someone").code == 0)
    #expect(
      try place.run("query", "Album", "artistName == 'Someone'", "--count", "-q").out == "0\n")
  }

  @Test func bindingsThatCallSwiftAreReportedAndNotWritten() throws {
    let place = try Workplace()
    try place.makeMusic()
    try place.run("bindings", "drop", "Album.artistName")
    let shout = SQLFunction("shout") { values in
      guard case .text(let text) = values[0] else { return .null }
      return .text(text.uppercased())
    }
    var configuration = StoreConfiguration()
    configuration.functions = [shout]
    let store = try Store(at: place.path("music.store"), configuration: configuration)
    try store.add(.derive(to: "Album.artistName", from: "shout(title)").calling(shout))
    store.close()
    let before = try place.run("query", "Album", "-q").out
    let refused = try place.run("update", "Album", "1", "title=x", "--skip-code-validators")
    #expect(refused.code == 4, "\(refused)")
    #expect(
      refused.err.contains("the binding Album.artistName calls the function shout"), "\(refused)")
    #expect(try place.run("query", "Album", "-q").out == before)
    #expect(try place.run("bindings", "list", "-q").out.contains("calling shout"))
    #expect(try place.run("doctor", "-q").code == 0)
    let checked = try place.run("bindings", "check")
    #expect(checked.code == 0)
    #expect(checked.err.contains("Album.artistName calls shout"), "\(checked)")
    #expect(try place.run("bindings", "rebuild").code == 0)
  }

  @Test func bindingsAreAddedAndExplained() throws {
    let place = try Workplace()
    try place.makeMusic()
    try place.run("bindings", "drop", "Album.artistName")
    let raw = try RawDatabase(place.path("music.store"))
    let words = [
      "bindings", "add", "copy", "Album.artistName", "--from", "Artist.name", "--through",
      "artistID",
    ]
    // The album has a validator in Swift.
    let unchecked = try place.run(words)
    #expect(unchecked.code == 4 && unchecked.err.contains("--skip-code-validators"), "\(unchecked)")
    let added = try place.run(words + ["--skip-code-validators"])
    #expect(
      added
        == Outcome(
          code: 0, out: "",
          err: "added Album.artistName: Album.artistName = Artist.name through Album.artistID\n"))
    let source = try raw.value("SELECT name FROM Artist WHERE id = 1")
    #expect(
      try place.run("bindings", "why", "Album.artistName", "1", "-q").out == """
        Artist.name\t\t\t\t1\t\(source)
        Artist.id\t\t\t\t1\t1
        Album.artistID\t\t\t\t1\t1
        Album.artistName\tAlbum.artistName\tAlbum.artistName = Artist.name \
        through Album.artistID\ttrue\t1\t\(source)

        """)
    let taken = try place.run(
      "bindings", "add", "derive", "Album.artistName", "--as", "upper(title)")
    #expect(taken.err.contains("The binding Album.artistName exists already"), "\(taken)")
    let circle = try place.run(
      "bindings", "add", "aggregate", "Artist.name", "--function", "first", "--from",
      "Album.artistName", "--through",
      "artistID")
    #expect(circle.code != 0)
    let unknown = try place.run("bindings", "add", "derive", "Album.artistNam", "--as", "1")
    #expect(unknown.err.contains("artistName"), "\(unknown)")
    let both = try place.run(
      "bindings", "add", "derive", "Album.title", "--as", "1", "--from", "Artist.name")
    #expect(both.code == 64 && both.err.contains("Unknown option '--from'"), "\(both)")
  }

  @Test func whyShowsWhichOfSeveralBindingsApplies() throws {
    let place = try Workplace()
    try place.makeMusic()
    try place.run("bindings", "drop", "Album.artistName")
    let adding = [
      "bindings", "add", "derive", "Album.artistName", "--skip-code-validators", "--yes",
    ]
    for words in [
      ["--as", "upper(title)", "--when", "id <= 7", "--priority", "2", "--name", "high"],
      ["--as", "lower(title)", "--when", "id > 0", "--priority", "1", "--name", "low"],
    ] {
      let added = try place.run(adding + words)
      try #require(added.code == 0, "\(added)")
    }
    for (key, high, low) in [("7", "true", "false"), ("9", "false", "true")] {
      let told = try place.run("bindings", "why", "Album.artistName", key, "--ndjson", "-q")
      let lines = told.out.split(separator: "\n")
      for (name, isInForce) in [("high", high), ("low", low)] {
        let line = try #require(lines.first { $0.contains("\"binding\":\"\(name)\"") }, "\(told)")
        #expect(line.contains("\"inForce\":\(isInForce),\"record\":\(key),"), "\(line)")
      }
      let input = try #require(lines.first { $0.contains("\"field\":\"Album.id\"") }, "\(told)")
      #expect(input.hasSuffix("\"inForce\":null,\"record\":\(key),\"value\":\(key)}"), "\(input)")
    }
    let bare = try place.run("bindings", "why", "Album.artistName", "--ndjson", "-q").out
    #expect(!bare.contains("value"), "\(bare)")
  }

  /// Both are records of one model.
  @Test func whyShowsARecordReferredToWithinTheSameModel() throws {
    let place = try Workplace()
    try RawDatabase(place.path("staff.db")).execute(
      """
      CREATE TABLE Person(
        id INTEGER PRIMARY KEY, first TEXT, name TEXT, boss INTEGER REFERENCES Person(id),
        bossName TEXT);
      INSERT INTO Person VALUES
        (1, 'Ada', NULL, NULL, NULL), (2, 'Bob', NULL, 1, NULL);
      """)
    place.environment["STORECLI_DB"] = place.path("staff.db")
    for words in [
      ["adopt", "Person"],
      ["bindings", "add", "derive", "Person.name", "--as", "upper(first)"],
      ["bindings", "add", "copy", "Person.bossName", "--from", "Person.name", "--through", "boss"],
    ] {
      let outcome = try place.run(words)
      try #require(outcome.code == 0, "\(outcome)")
    }
    func told(_ key: String) throws -> [String] {
      try place.run("bindings", "why", "Person.bossName", key, "-q", "--ndjson").out
        .split(separator: "\n").map { line in
          let line = try lineOf(line)
          return ["field", "record", "value"].map { line[$0] ?? "" }.joined(separator: " ")
        }
    }
    #expect(
      try told("2") == [
        "Person.first 1 Ada", "Person.name 1 ADA", "Person.id 1 1", "Person.boss 2 1",
        "Person.bossName 2 ADA",
      ])
    #expect(
      try told("1") == [
        "Person.first <null> <null>", "Person.name <null> <null>", "Person.id <null> <null>",
        "Person.boss 1 <null>", "Person.bossName 1 <null>",
      ])
  }

  @Test func aReferenceToAnotherTableDoesNotLinkTheRecords() throws {
    let place = try Workplace()
    try place.makeMusic()
    let names = try place.run("query", "Artist", "--fields", "name").out
    for formula in [
      ["aggregate", "--function", "joined", "--from", "Track.title"],
      ["copy", "--from", "Track.title"],
      ["copy", "--from", "Track.title", "--keep-last"], ["two-way", "--with", "Track.title"],
    ] {
      let refused = try place.run(
        ["bindings", "add"] + formula + ["Artist.name", "--through", "albumID"])
      #expect(refused.code == 64 || refused.code == 1, "\(formula) \(refused)")
    }
    let refused = try place.run(
      "bindings", "add", "aggregate", "Artist.name", "--function", "joined", "--from",
      "Track.title", "--through", "albumID")
    #expect(
      refused.err.contains("Track.albumID refers to the table Album, not to Artist"), "\(refused)")
    #expect(try place.run("query", "Artist", "--fields", "name").out == names)
  }

  @Test(arguments: [
    (["derive", "--as", "1", "--separator", "x"], "Unknown option '--separator'"),
    (["derive", "--as", "1", "--through", "artistID"], "Unknown option '--through'"),
    (["derive", "--as", "1", "--keep-last"], "Unknown option '--keep-last'"),
    (["derive", "--as", "1", "--initially", "left"], "Unknown option '--initially'"),
    (
      ["aggregate", "--function", "sum", "--from", "Track.seconds", "--as", "2"],
      "names both a field and an expression"
    ),
    (
      ["aggregate", "--function", "sum", "--from", "Track.seconds", "--by", "id"],
      "--by goes with --function first, last and joined."
    ),
    (
      ["aggregate", "--function", "last", "--from", "Track.seconds", "--separator", "-"],
      "--separator goes with --function joined."
    ),
    (["copy", "--from", "Artist.name", "--conflict", "abort"], "Unknown option '--conflict'"),
    (["two-way", "--with", "Artist.name", "--of", "1"], "Unknown option '--of'"),
  ])
  func anOptionThatWouldDoNothingIsRefused(words: [String], message: String) throws {
    let place = try Workplace()
    try place.makeMusic()
    let refused = try place.run(["bindings", "add"] + words + ["Album.title"])
    #expect(refused.code == 64 && refused.err.contains(message), "\(refused)")
  }

  @Test func keysOfWrongRecordsAreAJSONArray() throws {
    let place = try Workplace()
    try place.makeMusic()
    let raw = try RawDatabase(place.path("music.store"))
    let trigger = try raw.value(
      "SELECT name FROM sqlite_schema WHERE name LIKE '\\_ms\\_binding%source\\_update' ESCAPE '\\'"
    )
    try raw.execute("DROP TRIGGER \"\(trigger)\"")
    try raw.execute("UPDATE Artist SET name = 'Nobody' WHERE id = 1")
    let found = try place.run("bindings", "check", "--ndjson", "-q")
    #expect(found.out.contains("\"keys\":[1,2,3]"), "\(found)")
  }

  @Test func aPersonReadsWhereAValueComesFrom() throws {
    let place = try Workplace()
    try place.makeMusic()
    #expect(
      try place.run("bindings", "why", "Album.artistName", "1", "-o", "table", "-q").out == """
        FIELD             RECORD  VALUE             COMES FROM
        Artist.name       1       Nina & the Tides  what programs write
        Artist.id         1       1                 what programs write
        Album.artistID    1       1                 what programs write
        Album.artistName  1       Nina & the Tides  Artist.name through Album.artistID

        """)
    #expect(
      try place.run("bindings", "why", "Album.artistName", "-o", "table", "-q").out.hasPrefix(
        "FIELD             COMES FROM\nArtist.name       what programs write\n"))
  }
}
