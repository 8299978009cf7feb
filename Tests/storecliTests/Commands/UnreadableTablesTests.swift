import Testing

/// Databases with tables that only the program that made them can read or write: its collations,
/// functions and virtual tables are missing here.
@Suite(.tags(.process)) struct UnreadableTablesTests {
  /// A database with the traits of Anki's: texts compared by a collation of its own, one of them
  /// the key of a table WITHOUT ROWID.
  private func cards(in place: Workplace) throws {
    let raw = try RawDatabase(place.path("cards.db"))
    try raw.execute(
      """
      CREATE TABLE card (id INTEGER PRIMARY KEY, ord INTEGER NOT NULL);
      CREATE TABLE deck (id INTEGER PRIMARY KEY, name TEXT NOT NULL COLLATE nocase);
      CREATE UNIQUE INDEX deck_name ON deck (name);
      CREATE TABLE tag (
        tag TEXT NOT NULL PRIMARY KEY COLLATE nocase, usn INTEGER NOT NULL) WITHOUT ROWID;
      INSERT INTO card VALUES (1, 0), (2, 1);
      INSERT INTO deck VALUES (1, 'Default');
      INSERT INTO tag VALUES ('a', 0), ('b', 1);
      PRAGMA writable_schema = ON;
      UPDATE sqlite_schema SET sql = replace(sql, 'nocase', 'unicase');
      """)
    place.environment["STORECLI_DB"] = place.path("cards.db")
  }

  /// A database with the traits of Calibre's: triggers and an index that call functions of its own,
  /// a view that does, and a full-text table with a tokenizer of its own.
  private func books(in place: Workplace) throws {
    let raw = try RawDatabase(place.path("books.db"))
    try raw.execute(
      """
      CREATE TABLE book (id INTEGER PRIMARY KEY, title TEXT NOT NULL, sort TEXT);
      CREATE TRIGGER book_insert AFTER INSERT ON book BEGIN
        UPDATE book SET sort = title_sort(NEW.title) WHERE id = NEW.id;
      END;
      CREATE TABLE shelf (id INTEGER PRIMARY KEY, place TEXT);
      CREATE INDEX shelf_place ON shelf (upper(place));
      CREATE TABLE pref (id INTEGER PRIMARY KEY, val TEXT);
      CREATE VIEW meta AS SELECT id, sortconcat(id, title) AS text FROM book;
      CREATE VIRTUAL TABLE search USING fts4(text);
      INSERT INTO shelf VALUES (1, 'here');
      PRAGMA writable_schema = ON;
      UPDATE sqlite_schema SET sql = replace(sql, 'upper(', 'place_sort(');
      UPDATE sqlite_schema SET sql = replace(sql, 'fts4(', 'own_search(') WHERE name = 'search';
      """)
    place.environment["STORECLI_DB"] = place.path("books.db")
  }

  @Test func adoptNamesTheCollationThatIsMissing() throws {
    let place = try Workplace()
    try cards(in: place)
    let outcome = try place.run("adopt", "-q")
    let deck =
      "deck\t2\tid\t\tdeck needs the collation unicase, which this program does not have. "
    #expect(outcome.code == 0 && outcome.out.contains(deck), "\(outcome)")
    #expect(outcome.out.contains("\ncard") || outcome.out.hasPrefix("card\t2\tid\t\t\n"))
  }

  @Test func adoptNamesFunctionsModulesAndTokenizers() throws {
    let place = try Workplace()
    try books(in: place)
    let outcome = try place.run("adopt")
    #expect(outcome.code == 0, "\(outcome)")
    #expect(
      outcome.out.contains(
        "Writing book needs the function title_sort, which this program does not have. "))
    #expect(
      outcome.out.contains(
        "Writing shelf needs the function place_sort, which this program does not have. "))
    #expect(
      outcome.err.contains("not meta: SQLite cannot read meta: no such function: sortconcat.\n"))
    let search =
      "search is a virtual table that SQLite cannot open here: no such module: own_search.\n"
    #expect(outcome.err.contains("not search: " + search))
    // The storage of that table looks like any other table.
    #expect(outcome.err.contains("not search_content: search_content may be the storage of "))
    #expect(!outcome.out.contains("search"))
  }

  @Test func commandsOverAllModelsContinueAfterAnUnreadableOne() throws {
    let place = try Workplace()
    try cards(in: place)
    try #require(try place.run("adopt").code == 0)
    let refusal =
      """
      error[unsupportedSchema]: tag needs the collation unicase, which this program does not have. \
      Use the program that created the table, or have it copy the rows into a table without it.

      """
    #expect(
      try place.run("models", "-q")
        == Outcome(
          code: 1,
          out: """
            card\t2\t2\tid\t1\t0\tadopted
            deck\t1\t2\tid\t2\t0\tadopted
            tag\t?\t2\ttag\t2\t0\tadopted

            """, err: refusal))
    #expect(try place.run("validate", "-q") == Outcome(code: 1, out: "", err: refusal))
    #expect(try place.run("validate").err.hasPrefix("2 models checked, 0 rules broken\n"))
    let watched = try place.runProcess("watch", "--timeout", "0s", "--snapshot", "-q")
    #expect(watched.code == 0 && watched.err.hasPrefix(refusal), "\(watched)")
    #expect(watched.out.split(separator: "\n").count == 3, "\(watched)")
    #expect(try place.run("journal", "on").code == 0)
    #expect(try place.run("query", "deck", "-q") == Outcome(code: 0, out: "1\tDefault\n", err: ""))
    for words in [["query", "tag"], ["get", "tag", "a"], ["export", "tag"]] {
      #expect(try place.run(words) == Outcome(code: 1, out: "", err: refusal))
    }
  }

  /// Bindings of three tables. The one in the middle is unreadable, and all three were damaged.
  @Test func bindingsOfOtherTablesAreRebuilt() throws {
    let place = try Workplace()
    let raw = try RawDatabase(place.path("b.db"))
    for table in ["a", "m", "z"] {
      try raw.execute(
        """
        CREATE TABLE \(table) (
          name TEXT NOT NULL PRIMARY KEY COLLATE nocase, up TEXT) WITHOUT ROWID;
        INSERT INTO \(table) VALUES ('x', NULL), ('y', NULL);
        """)
    }
    place.environment["STORECLI_DB"] = place.path("b.db")
    try #require(try place.run("adopt").code == 0)
    for table in ["a", "m", "z"] {
      let outcome = try place.run(
        "bindings", "add", "derive", "\(table).up", "--as", "upper(name)", "--yes")
      try #require(outcome.code == 0, "\(outcome)")
    }
    let triggers = try raw.value(
      """
      SELECT group_concat('DROP TRIGGER "' || name || '"', ';')
      FROM sqlite_schema WHERE type = 'trigger' AND name LIKE '%up%'
      """)
    try raw.execute(triggers)
    for table in ["a", "m", "z"] { try raw.execute("UPDATE \(table) SET up = 'wrong'") }
    try raw.execute(
      """
      PRAGMA writable_schema = ON;
      UPDATE sqlite_schema SET sql = replace(sql, 'nocase', 'unicase') WHERE name = 'm';
      """)
    let refusal = "error[unsupportedSchema]: m.up: m needs the collation unicase, "
    let check = try place.run("bindings", "check", "-q")
    #expect(check.code == 2, "\(check)")
    #expect(check.out.split(separator: "\n").map { $0.prefix(4) } == ["a.up", "m.up", "z.up"])
    for words in [["-n"], []] {
      let outcome = try place.run(["bindings", "rebuild"] + words)
      #expect(outcome.code == 1, "\(outcome)")
      #expect(outcome.err.contains(refusal), "\(outcome)")
      for table in ["a", "z"] {
        #expect(
          outcome.err.contains(
            "\(table).up: 2 records \(words.isEmpty ? "" : "would be ")updated\n"), "\(outcome)")
      }
      #expect(!outcome.err.contains("m.up: 2 records"))
      let value = words.isEmpty ? "X,Y" : "wrong,wrong"
      for table in ["a", "z"] {
        #expect(
          try place.run("query", table, "-q", "--fields", "up").out
            == value.split(separator: ",").map { $0 + "\n" }.joined())
      }
    }
    // What is left is found and left out again.
    let again = try place.run("bindings", "rebuild")
    #expect(again.code == 1 && again.err.contains("2 bindings in place\n"), "\(again)")
  }

  @Test func doctorChecksTheOtherTables() throws {
    let place = try Workplace()
    try cards(in: place)
    try #require(try place.run("adopt").code == 0)
    let outcome = try place.run("doctor", "-q")
    #expect(outcome.code == 1, "\(outcome)")
    let lines = outcome.out.split(separator: "\n")
    let reason = "was not checked: no such collation sequence: unicase."
    for table in ["deck", "tag"] {
      #expect(lines.contains("integrity\tunread\tThe table \(table) \(reason)"), "\(outcome)")
    }
    #expect(lines.contains("integrity\tok\tthe other pages, indexes and references are sound"))
    #expect(
      lines.contains {
        $0.hasPrefix("rules\tunread\ttag: tag needs the collation unicase, which this program ")
      }, "\(outcome)")
    #expect(!outcome.out.contains("no query solution"))
  }

  @Test func aWriteThatNeedsAMissingFunctionNamesIt() throws {
    let place = try Workplace()
    try books(in: place)
    try #require(try place.run("adopt").code == 0)
    let insert = try place.run("insert", "book", "title=x")
    #expect(insert.code == 1, "\(insert)")
    #expect(
      insert.err.hasPrefix(
        "error[unsupportedSchema]: book needs the function title_sort, which this program does "))
    #expect(try place.run("insert", "pref", "val=x").code == 0)
  }

  @Test func theErrorOfAStatementNamesWhatItsTableNeeds() throws {
    let place = try Workplace()
    try cards(in: place)
    let outcome = try place.run("query", "--sql", "SELECT * FROM tag")
    #expect(outcome.code == 1, "\(outcome)")
    #expect(
      outcome.err.contains(
        "Its key uses a collation that only the program that created the table has"))
  }
}
