import Testing

/// What commands say of a binding that they cannot compare or repair.
@Suite(.tags(.process)) struct BindingAdviceTests {
  private func adopted(_ script: String) throws -> (Workplace, RawDatabase) {
    let place = try Workplace()
    let raw = try RawDatabase(place.path("b.db"))
    try raw.execute(script)
    place.environment["STORECLI_DB"] = place.path("b.db")
    let outcome = try place.run("adopt")
    try #require(outcome.code == 0, "\(outcome)")
    return (place, raw)
  }

  /// `bindings check` named `bindings rebuild`, which named `doctor`, which named `rebuild`.
  @Test func theErrorAdvisesDroppingABindingOfADroppedTable() throws {
    let (place, raw) = try adopted(
      """
      CREATE TABLE P (id INTEGER PRIMARY KEY, name TEXT);
      CREATE TABLE T (id INTEGER PRIMARY KEY, pid INTEGER REFERENCES P (id), pname TEXT);
      """)
    let added = try place.run(
      "bindings", "add", "copy", "T.pname", "--from", "P.name", "--through", "pid", "--yes")
    try #require(added.code == 0, "\(added)")
    try raw.execute("DROP TABLE T")
    let advice = "storecli bindings drop T.pname"
    let checked = try place.run("bindings", "check")
    #expect(checked.code == 2, "\(checked)")
    #expect(
      checked.err == """
        1 binding checked, 1 to repair
        T.pname: its values could not be compared: no such table: T (\(advice))

        """)
    let doctor = try place.run("doctor", "-q")
    #expect(doctor.out.contains("(\(advice))"), "\(doctor)")
    #expect(!doctor.out.contains("bindings rebuild"), "\(doctor)")
    let rebuilt = try place.run("bindings", "rebuild")
    #expect(rebuilt.code == 1 && rebuilt.err.hasSuffix("hint: \(advice)\n"), "\(rebuilt)")
    #expect(try place.run("bindings", "drop", "T.pname").code == 0)
    #expect(try place.run("bindings", "check").code == 0)
  }

  /// The first such value ended both commands for all bindings, and no message named one.
  @Test func aLargeValueConcernsItsOwnBinding() throws {
    let (place, raw) = try adopted(
      """
      CREATE TABLE f (id INTEGER PRIMARY KEY, name TEXT, up TEXT);
      CREATE TABLE g (id INTEGER PRIMARY KEY, name TEXT, up TEXT);
      INSERT INTO f (id, name) VALUES (1, 'x');
      INSERT INTO g (id, name) VALUES (1, 'x');
      """)
    for table in ["f", "g"] {
      let added = try place.run(
        "bindings", "add", "derive", "\(table).up", "--as", "upper(name)", "--yes")
      try #require(added.code == 0, "\(added)")
    }
    try raw.execute(
      try raw.value(
        """
        SELECT group_concat('DROP TRIGGER "' || name || '"', ';')
        FROM sqlite_schema WHERE type = 'trigger' AND tbl_name = 'g'
        """))
    try raw.execute("UPDATE g SET up = 'wrong'; UPDATE f SET name = hex(zeroblob(15000))")
    place.environment["STORECLI_VALUE_MAX"] = "20000"
    let checked = try place.run("bindings", "check", "--fields", "binding")
    #expect(checked.code == 2 && checked.out == "f.up\ng.up\n", "\(checked)")
    #expect(
      checked.err.contains(
        "f.up: its values could not be compared: a value of it is larger than this program reads\n"
      ), "\(checked)")
    let rebuilt = try place.run("bindings", "rebuild")
    #expect(rebuilt.code == 1, "\(rebuilt)")
    #expect(rebuilt.err.contains("g.up: 1 record updated\n"), "\(rebuilt)")
    #expect(rebuilt.err.contains("error[unreadable]: f.up: "), "\(rebuilt)")
    #expect(try raw.value("SELECT up FROM g") == "X")
    #expect(try place.run("bindings", "check", "-q").code == 1)
  }

  @Test func aRebuildSaysThatAnEntryCannotBeRead() throws {
    let (place, raw) = try adopted("CREATE TABLE f (id INTEGER PRIMARY KEY, name TEXT)")
    try raw.execute(
      "UPDATE _ms_models SET definition = json_set(definition, '$.later', 1) WHERE name = 'f'")
    for words in [["check"], ["rebuild"], ["rebuild", "-n"]] {
      let outcome = try place.run(["bindings"] + words)
      #expect(outcome.code == 1, "\(words) \(outcome)")
      #expect(outcome.err.contains("error[newerFormat]: The entry of the model f"))
    }
  }

  @Test func adoptNamesTheMissingCollation() throws {
    let place = try Workplace()
    let raw = try RawDatabase(place.path("b.db"))
    try raw.execute(
      """
      CREATE TABLE tags (tag TEXT NOT NULL PRIMARY KEY COLLATE nocase, seen BOOLEAN) WITHOUT ROWID;
      INSERT INTO tags VALUES ('a', 1);
      PRAGMA writable_schema = ON;
      UPDATE sqlite_schema SET sql = replace(sql, 'nocase', 'unicase') WHERE name = 'tags';
      """)
    let outcome = try place.run("adopt", "-d", place.path("b.db"), "-n", "--fields", "notes")
    #expect(outcome.code == 0, "\(outcome)")
    #expect(
      outcome.out.contains(
        "The types of tags are as declared, because its values could not be read: "
          + "tags needs the collation unicase, "), "\(outcome)")
    #expect(!outcome.out.contains("no query solution"), "\(outcome)")
  }
}
