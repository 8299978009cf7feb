import Foundation
import Testing

/// How columns of another program's design are read: one text is one value wherever it occurs.
@Suite(.tags(.process)) struct AdoptedTypeTests {
  /// A small ugly database. `is_active` has no misfit, `level` has one.
  private func makeAccounts() throws -> Workplace {
    let place = try Workplace()
    try RawDatabase(place.path("a.db")).execute(
      """
      CREATE TABLE account (
        id INTEGER PRIMARY KEY, is_active bool, level BOOLEAN, balance DECIMAL(10,2), d DATE,
        at DATETIME, seen TIMESTAMP, uid UUID, nums);
      INSERT INTO account VALUES
        (1, 1, 1, 32.38, '2021-02-03', '2021-02-03 00:00:00', 1600000000,
          'c0ffee00-0000-4000-8000-00000000000a', 5),
        (2, 0, 'true', 7, '2021-02-04', '2021-02-04 04:05:06', 1600000000.25,
          'c0ffee00-0000-4000-8000-00000000000b', 6);
      """)
    place.environment["STORECLI_DB"] = place.path("a.db")
    return place
  }

  private func stored(_ column: String, of id: Int, in place: Workplace) throws -> String {
    try RawDatabase(place.path("a.db")).value(
      "SELECT typeof(\(column)) || ' ' || quote(\(column)) FROM account WHERE id = \(id)")
  }

  @Test func adoptReportsWhatItDecidedAndFromHowManyValues() throws {
    let place = try makeAccounts()
    let dry = try place.run("adopt", "--dry-run")
    #expect(
      dry.err == """
        account.is_active (bool): boolean, from all 2 values
        account.level (BOOLEAN): any, because 1 of 2 values does not fit it
        account.balance (DECIMAL(10,2)): real, from all 2 values
        account.d (DATE): date YYYY-MM-DD, from all 2 values
        account.at (DATETIME): date YYYY-MM-DD HH:MM:SS, from all 2 values
        account.seen (TIMESTAMP): date unix, from all 2 values
        account.uid (UUID): uuid lowercase, from all 2 values
        account.nums (no type): integer, from all 2 values
        1 table would be adopted; dry run: nothing was written

        """)
    let json = try place.run("adopt", "--ndjson", "--fields", "model,types", "-q")
    #expect(
      json.out.hasPrefix(
        #"{"model":"account","types":[{"field":"is_active","declared":"bool","type":"boolean","#
          + #""form":null,"values":2,"misfits":0,"complete":true},"#))
    #expect(
      try place.run("models", "account", "--fields", "field,type").out == """
        id\tinteger
        is_active\tboolean (bool)
        level\tany (BOOLEAN)
        balance\treal (DECIMAL(10,2))
        d\tdate YYYY-MM-DD
        at\tdate YYYY-MM-DD HH:MM:SS (DATETIME)
        seen\tdate unix (TIMESTAMP)
        uid\tuuid lowercase
        nums\tinteger

        """)
  }

  /// The field, a text, the same in JSON and in a predicate, and what is stored.
  private static let values = [
    ("is_active", "true", "true", "true", "integer 1"),
    ("is_active", "0", "false", "0", "integer 0"),
    ("is_active", "No", "false", "'no'", "integer 0"),
    ("is_active", "1", "1", "1", "integer 1"),
    ("is_active", "false", "0", "false", "integer 0"),
    ("is_active", "yes", #""yes""#, "'yes'", "integer 1"),
    ("balance", "1.5", #""1.5""#, "'1.5'", "real 1.5"),
    ("nums", "7", #""7""#, "'7'", "integer 7"),
    ("balance", "32.50", "32.5", "32.50", "real 32.5"),
    ("balance", "1000", "1000", "'1000'", "integer 1000"),
    ("d", "2021-12-31", #""2021-12-31""#, "'2021-12-31'", "text '2021-12-31'"),
    ("d", "2021-12-31T00:00Z", #""2021-12-31T00:00Z""#, "'2021-12-31 00:00'", "text '2021-12-31'"),
    ("at", "2021-12-31", #""2021-12-31""#, "'2021-12-31'", "text '2021-12-31 00:00:00'"),
    (
      "at", "2021-12-31T02:00+02:00", #""2021-12-31T02:00+02:00""#, "'2021-12-31 00:00'",
      "text '2021-12-31 00:00:00'"
    ),
    (
      "seen", "2020-09-13T12:26:41Z", #""2020-09-13T12:26:41Z""#, "'2020-09-13 12:26:41'",
      "integer 1600000001"
    ),
    ("seen", "1600000001", "1600000001", "1600000001", "integer 1600000001"),
    (
      "uid", "C0FFEE00-0000-4000-8000-00000000000C", #""C0FFEE00-0000-4000-8000-00000000000C""#,
      "'c0ffee00-0000-4000-8000-00000000000c'", "text 'c0ffee00-0000-4000-8000-00000000000c'"
    ),
    ("nums", "12", "12", "12", "integer 12"),
  ]

  @Test(arguments: values)
  func oneTextIsOneValueOnEveryPath(
    field: String, text: String, json: String, literal: String, value: String
  ) throws {
    let place = try makeAccounts()
    try #require(try place.run("adopt").code == 0)
    #expect(try place.run("update", "account", "1", "\(field)=\(text)").code == 0)
    #expect(try stored(field, of: 1, in: place) == value)
    #expect(try place.run("insert", "account", "id=10", "\(field)=\(text)").code == 0)
    try place.write("id,\(field)\n11,\(text)\n", to: "x.csv")
    #expect(try place.run("import", "x.csv", "--model", "account").code == 0)
    try place.write("{\"id\":12,\"\(field)\":\(json)}\n", to: "x.ndjson")
    #expect(try place.run("import", "x.ndjson", "--model", "account").code == 0)
    for id in 10...12 { #expect(try stored(field, of: id, in: place) == value) }
    let found = try place.run(
      "query", "account", "\(field) = \(literal) and id >= 10", "--fields", "id")
    #expect(found.out == "10\n11\n12\n", "\(found.err)")
  }

  @Test(arguments: [
    ("is_active=maybe", "is_active takes true or false; got “maybe”."),
    ("balance=oops", "balance takes a number; got “oops”."),
    (
      "d=2021-02-30",
      "d takes a date such as 2026-09-01 or 2026-09-01T12:30:00Z, which the column stores as "
        + "YYYY-MM-DD; got “2021-02-30”."
    ),
    (
      "seen=soon",
      "seen takes a date such as 2026-09-01 or 2026-09-01T12:30:00Z, which the column stores as "
        + "unix; got “soon”."
    ),
    (
      "seen=1e300",
      "seen takes a date such as 2026-09-01 or 2026-09-01T12:30:00Z, which the column stores as "
        + "unix; got “1e300”."
    ),
    (
      "balance=12345678901234567890",
      "balance takes a number that a 64-bit real holds exactly, or a rounded one with a point or an "
        + "exponent; got “12345678901234567890”."
    ),
    ("nums=five", "nums takes a whole number within 64 bits; got “five”."),
  ])
  func valuesThatDoNotFitTheColumnsTypeAreRefused(word: String, message: String) throws {
    let place = try makeAccounts()
    try #require(try place.run("adopt").code == 0)
    let outcome = try place.run("update", "account", "1", word)
    #expect(outcome.code == 4)
    #expect(outcome.err.contains(message), "\(outcome.err)")
    let parts = word.split(separator: "=")
    try place.write("id,\(parts[0])\n11,\(parts[1])\n", to: "x.csv")
    let imported = try place.run("import", "x.csv", "--model", "account")
    #expect(imported.code == 4)
    #expect(
      imported.err.hasSuffix(
        "hint: storecli adopt --type account.\(parts[0])=any\n"),
      "\(imported.err)")
  }

  @Test(arguments: [
    (#"{"id":9,"is_active":2}"#, "is_active is of type boolean and does not take 2."),
    (#"{"id":9,"is_active":"maybe"}"#, "is_active takes true or false; got “maybe”."),
    (#"{"id":9,"is_active":1.0}"#, "is_active is of type boolean and does not take 1.0."),
    (#"{"id":9,"balance":"inf"}"#, "balance takes a number; got “inf”."),
    (#"{"id":9,"nums":"1.5"}"#, "nums takes a whole number within 64 bits; got “1.5”."),
    (
      #"{"id":9,"seen":1e300}"#,
      "seen takes a date such as 2026-09-01 or 2026-09-01T12:30:00Z, which the column stores as "
        + "unix; got “1e+300”."
    ),
  ])
  func jsonValuesThatDoNotFitTheColumnsTypeAreRefused(record: String, message: String) throws {
    let place = try makeAccounts()
    try #require(try place.run("adopt").code == 0)
    let outcome = try place.run("import", "-", "--model", "account", input: record + "\n")
    #expect(outcome.code == 4)
    #expect(outcome.err.contains(message), "\(outcome.err)")
  }

  /// A declared model's types are not bent.
  @Test func aDeclaredModelTakesNoTextForANumber() throws {
    let place = try Workplace()
    try place.makeMusic()
    let outcome = try place.run(
      "import", "-", "--model", "Artist",
      input: #"{"id":90,"name":"x","founded":"1960"}"# + "\n")
    #expect(outcome.code == 4)
    #expect(
      outcome.err.contains("founded is of type integer and does not take the text “1960”."),
      "\(outcome.err)")
  }

  @Test func numbersThatAreNotDatesStayUnchangedAndAreMarked() throws {
    let place = try Workplace()
    let raw = try RawDatabase(place.path("d.db"))
    try raw.execute(
      """
      CREATE TABLE T (id INTEGER PRIMARY KEY, s TIMESTAMP, m TIMESTAMP);
      INSERT INTO T VALUES (1, 1600000000, 1600000000000);
      """)
    place.environment["STORECLI_DB"] = place.path("d.db")
    try #require(try place.run("adopt").code == 0)
    try raw.execute("INSERT INTO T VALUES (2, 1e300, 1.5)")
    for word in ["s=1e300", "m=1.5"] {
      #expect(try place.run("update", "T", "1", word).code == 4, "\(word)")
    }
    #expect(try place.run("export", "T", "--to", "T.ndjson").code == 0)
    #expect(
      try place.contents(of: "T.ndjson") == """
        {"id":1,"s":1600000000,"m":1600000000000}
        {"id":2,"s":{"$stored":1e+300},"m":{"$stored":1.5}}

        """)
    let contents = "SELECT group_concat(quote(s) || quote(m)) FROM T"
    let before = try raw.value(contents)
    try place.run("delete", "T", "1", "2", "-q")
    #expect(try place.run("import", "T.ndjson").code == 0)
    #expect(try raw.value(contents) == before)
  }

  /// JSON in a column of JSON may be an object; a blob has no other spelling than one.
  @Test func aBlobInAColumnOfJSONComesBackAsABlob() throws {
    let place = try Workplace()
    let raw = try RawDatabase(place.path("j.db"))
    try raw.execute("CREATE TABLE J (id INTEGER PRIMARY KEY, d JSON)")
    place.environment["STORECLI_DB"] = place.path("j.db")
    try #require(try place.run("adopt").code == 0)
    try raw.execute(#"INSERT INTO J VALUES (1, x'0c'), (2, '{"$base64":"DA=="}')"#)
    #expect(try place.run("export", "J", "--to", "J.ndjson").code == 0)
    let exported = try place.contents(of: "J.ndjson")
    #expect(
      exported == #"""
        {"id":1,"d":{"$base64":"DA=="}}
        {"id":2,"d":"{\"$base64\":\"DA==\"}"}

        """#)
    try place.run("delete", "J", "1", "2", "-q")
    try place.write(exported + #"{"id":3,"d":{"$base64":"?"}}"# + "\n", to: "J.ndjson")
    #expect(try place.run("import", "J.ndjson").code == 0)
    #expect(
      try raw.value("SELECT group_concat(quote(d), ' ') FROM J")
        == #"X'0C' '{"$base64":"DA=="}' '{"$base64":"?"}'"#)
  }

  @Test func anEmptyColumnKeepsDatesAndUUIDsAsGiven() throws {
    let place = try Workplace()
    try RawDatabase(place.path("a.db")).execute(
      "CREATE TABLE account (id INTEGER PRIMARY KEY, at DATETIME, d DATE, uid UUID)")
    place.environment["STORECLI_DB"] = place.path("a.db")
    try #require(try place.run("adopt").code == 0)
    let values = [
      ("at", "2021-02-03"), ("at", "2021-02-03T04:05:06.120Z"), ("at", "2021-02-03 04:05:06"),
      ("d", "2021-02-03 04:05"), ("uid", "C0FFEE00-0000-4000-8000-00000000000A"),
      ("uid", "c0ffee00-0000-4000-8000-00000000000a"),
    ]
    for (index, (field, text)) in values.enumerated() {
      try #require(
        try place.run("insert", "account", "id=\(index)", "\(field)=\(text)").code == 0)
      #expect(try stored(field, of: index, in: place) == "text '\(text)'")
      // Texts compare as they are stored.
      #expect(
        try place.run("query", "account", "\(field) = '\(text)'", "--fields", "id").out
          == "\(index)\n")
    }
    for predicate in ["at < today", "at < now", "at <= '2021-02-04'"] {
      #expect(
        try place.run("query", "account", predicate, "--fields", "id").out == "0\n1\n2\n")
    }
    #expect(try place.run("query", "account", "at > today or d > now", "--fields", "id").out == "")
    for word in ["at=2021-02-30", "at=abc", "d=5", "uid=c0ffee"] {
      #expect(try place.run("update", "account", "1", word).code == 4)
    }
    // The values that came show the form.
    try #require(try place.run("delete", "account", "0", "1", "-q").code == 0)
    let set = try place.run("adopt", "--type", "account.at=date", "--type", "account.uid=uuid")
    #expect(
      set.err == """
        account.at (DATETIME): date YYYY-MM-DD HH:MM:SS, from 1 value
        account.uid (UUID): uuid anycase, from all 2 values
        2 types set

        """)
  }

  @Test func numbersAreAddedWhateverTheColumnHolds() throws {
    let place = try makeAccounts()
    try #require(try place.run("adopt").code == 0)
    #expect(try place.run("update", "account", "1", "balance+=1").code == 0)
    #expect(try stored("balance", of: 1, in: place) == "real 33.38")
    #expect(try place.run("update", "account", "2", "balance+=0.5").code == 0)
    #expect(try stored("balance", of: 2, in: place) == "real 7.5")
    // A column of the type any may hold numbers as well.
    #expect(try place.run("update", "account", "1", "level+=2").code == 0)
    #expect(try stored("level", of: 1, in: place) == "integer 3")
    #expect(try place.run("update", "account", "1", "level+=x").code == 4)
  }

  @Test func theOwnerSetsTypes() throws {
    let place = try makeAccounts()
    try #require(try place.run("adopt").code == 0)
    let refused = try place.run("adopt", "--type", "account.level=bool")
    #expect(
      refused.err.hasPrefix(
        "error[invalidValue]: account.level cannot be of the type boolean: 1 of its 2 values do not "
          + "fit, the first of them 'true'. Change those values first, or choose another type.\n"))
    #expect(refused.code == 4)
    #expect(
      try place.run("update", "account", "--where", "level = 'true'", "level=1", "--yes").code == 0)
    let dry = try place.run("adopt", "--type", "account.level=bool", "--dry-run")
    #expect(dry.err.hasSuffix("1 type would be set; dry run: nothing was written\n"))
    let set = try place.run("adopt", "--type", "account.level=bool", "--type", "account.d=any")
    #expect(
      set.err == """
        account.level (BOOLEAN): boolean, from all 2 values
        account.d (DATE): any, from all 2 values
        2 types set

        """)
    #expect(
      try place.run("query", "account", "level", "--fields", "id,level,d").out
        == "1\ttrue\t2021-02-03\n2\ttrue\t2021-02-04\n")
    #expect(try place.run("doctor").code == 0)
  }

  @Test func aTypeCanBeGivenWithTheTable() throws {
    let place = try makeAccounts()
    try RawDatabase(place.path("a.db")).execute("CREATE TABLE other (id INTEGER PRIMARY KEY)")
    #expect(try place.run("adopt", "--type", "account.seen=date:2001", "-q").code == 0)
    #expect(try place.run("models", "--fields", "model").out == "account\n")
    #expect(
      try place.run("get", "account", "1", "--fields", "seen").out == "2051-09-14T12:26:40Z\n")
  }

  @Test(arguments: [
    ("account", 64, "--type takes TABLE.FIELD=TYPE; got account."),
    ("acount.d=date", 3, "There is no table acount; did you mean account?"),
    ("account.d=dat", 64, "--type knows no type dat; did you mean date or datetime?\n"),
    ("account.d=date:DD.MM.YYYY", 64, "--type knows no form DD.MM.YYYY of the type date."),
    ("account.e=date", 64, "account has no field e."),
  ])
  func aWrongTypeWordIsExplained(word: String, code: Int32, message: String) throws {
    let place = try makeAccounts()
    let outcome = try place.run("adopt", "--type", word)
    #expect(outcome.err.contains(message), "\(outcome.err)")
    #expect(outcome.code == code)
    #expect(try place.run("models", "--fields", "model").out == "")
  }

  /// Values that another program stored and the types do not have.
  @Test func misfitsAreKeptReadAndExported() throws {
    let place = try makeAccounts()
    try #require(try place.run("adopt").code == 0)
    let raw = try RawDatabase(place.path("a.db"))
    try raw.execute(
      """
      INSERT INTO account VALUES
        (3, 'yes', x'00', 'abc', '2021-02-03 00:00', '2021-02-03', 'unknown', 'C0FFEE', 1.5),
        (4, 2, 3, x'01', '', 5, 'x', 'C0FFEE00-0000-4000-8000-00000000000A', '7');
      """)
    let columns = "id, is_active, level, balance, d, at, seen, uid, nums"
    let all = columns.split(separator: ", ").map { "quote(\($0))" }.joined(
      separator: " || ', ' || ")
    let contents = "SELECT group_concat(line, char(10)) FROM (SELECT \(all) AS line FROM account)"
    let before = try raw.value(contents)
    #expect(
      try place.run("query", "account", "d = '2021-02-03' or is_active = true", "--fields", "id")
        .out
        == "1\n")
    #expect(
      try place.run("export", "account", "id > 2", "-o", "ndjson", "--fields", "is_active,at").out
        == """
        {"is_active":{"$stored":"yes"},"at":{"$stored":"2021-02-03"}}
        {"is_active":{"$stored":2},"at":{"$stored":5}}

        """)
    for format in ["json", "ndjson"] {
      #expect(try place.run("export", "account", "--to", "a.\(format)").code == 0)
      try place.run("delete", "account", "--where", "id > 0", "--yes", "-q")
      let outcome = try place.run("import", "a.\(format)", "--model", "account")
      #expect(outcome.code == 0, "\(outcome.err)")
      #expect(try raw.value(contents) == before)
    }
    let refused = try place.run("export", "account", "id = 3", "--to", "a.csv")
    #expect(refused.code == 1)
    #expect(
      refused.err == """
        error[output]: account 3: csv would bring back another value for the text in is_active, \
        which does not fit the type boolean.
        hint: add -o ndjson

        """)
    // Another field of such a record can be changed.
    #expect(try place.run("update", "account", "3", "nums=8").code == 0)
    #expect(
      try raw.value("SELECT quote(is_active) || quote(d) FROM account WHERE id = 3")
        == "'yes''2021-02-03 00:00'")
  }

  /// Where none but values of the type are ever stored, the mark is an object like others.
  @Test func theMarkOfStoredValuesIsReadOnlyWhereItIsWritten() throws {
    let place = try makeAccounts()
    try #require(try place.run("adopt").code == 0)
    #expect(
      try place.run("export", "account", "id = 2", "--fields", "level,is_active").out
        == "{\"level\":{\"$stored\":\"true\"},\"is_active\":false}\n")
    let refused = try place.run(
      "import", "-", "--model", "account", input: "{\"id\":9,\"level\":{\"stored\":7}}\n")
    #expect(refused.code == 4)
    #expect(refused.err.contains("level is of type any and does not take an object."))
    let taken = try place.run(
      "import", "-", "--model", "account",
      input: "{\"id\":9,\"level\":{\"$stored\":7},\"is_active\":{\"$stored\":7}}\n")
    #expect(taken.code == 0, "\(taken)")
    #expect(try stored("level", of: 9, in: place) == "integer 7")
    #expect(try stored("is_active", of: 9, in: place) == "integer 7")
    // A declared model's table is STRICT.
    try place.makeMusic()
    place.environment["STORECLI_DB"] = place.path("music.store")
    let own = try place.run(
      "import", "-", "--model", "Artist", input: "{\"id\":90,\"name\":{\"$stored\":\"x\"}}\n")
    #expect(own.code == 4)
    #expect(own.err.contains("name is of type text and does not take an object."), "\(own)")
  }

  @Test(arguments: ["csv", "tsv", "json", "ndjson"])
  func printedValuesCanBeWrittenBack(format: String) throws {
    let place = try makeAccounts()
    try #require(try place.run("adopt").code == 0)
    let raw = try RawDatabase(place.path("a.db"))
    let contents = """
      SELECT group_concat(quote(is_active) || quote(level) || quote(balance) || quote(d) || quote(at)
        || quote(seen) || quote(uid) || quote(nums)) FROM account
      """
    // An empty copy would read the text as 1, so CSV and TSV refuse it.
    if format == "csv" || format == "tsv" {
      #expect(try place.run("export", "account", "--to", "a.\(format)").code == 1)
      try raw.execute("UPDATE account SET level = 'maybe' WHERE id = 2")
    }
    let before = try raw.value(contents)
    #expect(try place.run("export", "account", "--to", "a.\(format)").code == 0)
    try place.run("delete", "account", "--where", "id > 0", "--yes", "-q")
    let outcome = try place.run("import", "a.\(format)", "--model", "account")
    #expect(outcome.code == 0, "\(outcome.err)")
    #expect(try raw.value(contents) == before)
  }

  @Test(arguments: [
    ("d=", "d is of type date YYYY-MM-DD and cannot be empty; d:null clears it."),
    ("nums=", "nums is of type integer and cannot be empty; nums:null clears it."),
    ("seen+=60", "seen is of type date unix; += adds to numbers only."),
    ("is_active+=1", "is_active is of type boolean; += adds to numbers only."),
  ])
  func aRefusalSaysTypeAndForm(word: String, message: String) throws {
    let place = try makeAccounts()
    try #require(try place.run("adopt").code == 0)
    let outcome = try place.run("update", "account", "1", word)
    #expect(outcome.code == 4)
    #expect(outcome.err.contains(message), "\(outcome.err)")
  }

  /// Digits in text for a column that holds texts, numbers for one that holds numbers.
  @Test func decimalsAreShownAsStored() throws {
    let place = try Workplace()
    let raw = try RawDatabase(place.path("m.db"))
    try raw.execute(
      """
      CREATE TABLE Money (id INTEGER PRIMARY KEY, price TEXT, sum DECIMAL(10,2), bare, rate REAL);
      INSERT INTO Money VALUES (1, '0.1', 1.5, 2.5, 0.5);
      """)
    place.environment["STORECLI_DB"] = place.path("m.db")
    let types = ["price", "sum", "bare", "rate"].flatMap { ["--type", "Money.\($0)=decimal"] }
    let set = try place.run(["adopt", "Money"] + types)
    #expect(set.code == 0, "\(set)")
    #expect(
      try place.run("models", "Money", "--fields", "field,type").out == """
        id\tinteger
        price\tdecimal (TEXT)
        sum\treal (DECIMAL(10,2))
        bare\treal
        rate\treal

        """)
    #expect(try place.run("update", "Money", "1", "price=1.10").code == 0)
    #expect(try raw.value("SELECT quote(price) FROM Money") == "'1.1'")
    #expect(try place.run("update", "Money", "1", "price=abc").code == 4)
  }
}
