import Testing

/// `--expand`: the records to which references lead.
@Suite(.tags(.process)) struct ExpandTests {
  private func library() throws -> Workplace {
    let place = try Workplace()
    try RawDatabase(place.path("l.db")).execute(
      """
      CREATE TABLE Country (code TEXT NOT NULL PRIMARY KEY, label TEXT);
      CREATE TABLE Person (
        id INTEGER PRIMARY KEY, first_name TEXT, last_name TEXT,
        country TEXT REFERENCES Country (code), born DATE);
      CREATE TABLE Book (
        id INTEGER PRIMARY KEY, title TEXT, author INTEGER REFERENCES Person (id),
        reader INTEGER REFERENCES Person (id), secret INTEGER REFERENCES Hidden (id));
      CREATE TABLE Hidden (id INTEGER PRIMARY KEY);
      INSERT INTO Country VALUES ('uk', 'United Kingdom');
      INSERT INTO Person VALUES (1, 'Ada', 'Lovelace', 'uk', '1815-12-10'), (2, 'Bo', NULL, NULL, NULL);
      INSERT INTO Book VALUES (1, 'Notes', 1, 2, NULL), (2, 'Lost', 9, NULL, NULL);
      """)
    place.environment["STORECLI_DB"] = place.path("l.db")
    try #require(try place.run("adopt", "Country", "Person", "Book").code == 0)
    return place
  }

  private func query(_ words: String..., in place: Workplace) throws -> String {
    let outcome = try place.run(["query", "Book", "-q", "--fields", "id,author"] + words)
    try #require(outcome.code == 0, "\(outcome)")
    return outcome.out
  }

  @Test func columnsFollowTheReference() throws {
    let place = try library()
    #expect(
      try query("--expand", "author", "--header", in: place) == """
        id\tauthor\tauthor.first_name\tauthor.last_name
        1\t1\tAda\tLovelace
        2\t9\t\t

        """)
    #expect(
      try query("--expand", "author.born,author.country", "--csv", in: place)
        == "id,author,author.born,author.country.label\r\n1,1,1815-12-10,United Kingdom\r\n2,9,,\r\n"
    )
    // A reference that is not among the fields comes last.
    #expect(try query("--expand", "reader.first_name", in: place) == "1\t1\tBo\n2\t9\t\n")
  }

  @Test func inJSONAnObjectTakesItsPlace() throws {
    let place = try library()
    #expect(
      try query("--expand", "author.country", "--expand", "reader", "--ndjson", in: place) == """
        {"id":1,"author":{"id":1,"country":{"code":"uk","label":"United Kingdom"}},\
        "reader":{"id":2,"first_name":"Bo","last_name":null,"country":null,"born":null}}
        {"id":2,"author":{"id":9},"reader":null}

        """)
    #expect(
      try query("--expand", "author.last_name", "-o", "yaml", "--limit", "1", in: place)
        == "- \"id\": 1\n  \"author\": {\"id\":1,\"last_name\":\"Lovelace\"}\n")
  }

  @Test func getExpandsToo() throws {
    let place = try library()
    #expect(
      try place.run("get", "Book", "1", "--expand", "author.country.label", "-o", "table").out
        == """
        Book 1
          title                 Notes
          author                1
          author.country.label  United Kingdom
          reader                2
          secret                null

        """)
  }

  @Test(arguments: [
    ("title", "Book.title refers to no other record, so it cannot be expanded.", "author, reader"),
    (
      "title.x", "Book.title refers to no other record, so it cannot be expanded.", "author, reader"
    ),
    ("athor", "Book has no field athor; did you mean author?", "storecli models Book"),
    ("author.nmae", "Person has no field nmae", "storecli models Person"),
    ("author.born.x", "Person.born refers to no other record", "--expand takes country"),
    ("secret", "Book.secret refers to the table Hidden, which is not a model.", "adopt Hidden"),
    ("author..x", "--expand takes fields separated by points", ""),
  ])
  func whatIsNoReferenceIsRefused(path: String, message: String, hint: String) throws {
    let place = try library()
    for words in [["query", "Book"], ["get", "Book", "1"]] {
      let outcome = try place.run(words + ["--expand", path])
      #expect(outcome.code == 64 && outcome.out.isEmpty, "\(outcome)")
      #expect(outcome.err.contains(message) && outcome.err.contains(hint), "\(outcome.err)")
    }
  }
}
