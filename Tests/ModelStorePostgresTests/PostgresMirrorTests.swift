#if Postgres
  import Foundation
  import LedgerConformance
  import ModelStore
  import Synchronization
  import Testing

  @testable import ModelStorePostgres

  /// Copies of records in PostgreSQL.
  @Suite(
    .tags(.process), .ownThreads, .timeLimit(.minutes(30)),
    .enabled(if: PostgresServer.isInstalled, "PostgreSQL's programs are missing."))
  struct PostgresMirrorTests {
    private let server: PostgresServer

    init() throws {
      server = try PostgresServer.shared.get()
    }

    // Values

    @Test func everyTypeIsAColumnWithTheSameValue() throws {
      let world = try MirrorWorld(server, "types")
      let store = try world.open()
      let full = Sample(
        id: -9_007_199_254_740_993, isOpen: true, weight: -0.1, title: "a'\"é\n\\",
        blob: Data([0, 255]), at: Date(timeIntervalSinceReferenceDate: 0.5),
        token: UUID(uuidString: "6BA7B810-9DAD-11D1-80B4-00C04FD430C8"),
        link: URL(string: "https://example.org/a?b=%20"), price: Decimal(string: "-12.50"),
        tags: JSON(["x", "\u{0}"]))
      try store.write { tx in
        try tx.insert(full)
        try tx.insert(Sample(id: 1, weight: .infinity, title: "", blob: Data()))
      }
      let progress = try world.mirror().update(from: store)
      #expect(progress.recordCount == 2)
      #expect(progress.rebuilt == ["Label", "Sample"])
      let texts = """
        SELECT id::text, "isOpen"::text, weight::text, title, encode(blob, 'hex'), at::text,
          extract(epoch FROM at_time)::text, token::text, link, price::text, tags::text
        FROM @"Sample" ORDER BY id
        """
      #expect(
        try world.rows(texts) == [
          [
            "-9007199254740993", "true", "-0.1", "a'\"é\n\\", "00ff", "0.5", "978307200.500000",
            "6ba7b810-9dad-11d1-80b4-00c04fd430c8", "https://example.org/a?b=%20", "-12.5",
            #"["x","\u0000"]"#,
          ],
          ["1", "", "Infinity", "", "", "", "", "", "", "", ""],
        ])
      #expect(
        try world.rows(
          #"SELECT (title IS NULL)::text, (link IS NULL)::text FROM @"Sample" WHERE id = 1"#)
          == [["false", "true"]])
      #expect(try world.mirror().verify(against: store) == [])
    }

    @Test func adoptedColumnsKeepTheirForms() throws {
      let world = try MirrorWorld(server, "forms")
      try PlainFile.execute(
        """
        CREATE TABLE "odd ""name" (day DATE, at INTEGER, ms INTEGER, jd REAL, id UUID,
          amount DECIMAL(10,2), PRIMARY KEY (id, day));
        INSERT INTO "odd ""name" VALUES ('2024-02-29', 1700000000, 1700000000123, 2460000.5,
          '6ba7b810-9dad-11d1-80b4-00c04fd430c8', 1.25);
        """, at: world.path)
      let store = try Store(at: world.path, models: [])
      let model = try #require(try store.adopt().first?.name)
      try store.adopt(
        [],
        types: [
          TypeChoice(model: model, field: "at", type: .date, form: .unixSeconds),
          TypeChoice(model: model, field: "ms", type: .date, form: .unixMilliseconds),
          TypeChoice(model: model, field: "jd", type: .date, form: .julianDays),
        ])
      try store.changeJournal.enable()
      let mirror = try world.mirror()
      try mirror.update(from: store)
      let name = MirrorColumn.quoted(model)
      let texts = """
        SELECT day, extract(epoch FROM at_time)::text, extract(epoch FROM ms_time)::text,
          extract(epoch FROM jd_time)::text, id::text FROM @\(name)
        """
      #expect(
        try world.rows(texts) == [
          [
            "2024-02-29", "1700000000.000000", "1700000000.123000", "1677283200.000000",
            "6ba7b810-9dad-11d1-80b4-00c04fd430c8",
          ]
        ])
      try PlainFile.execute("UPDATE \"odd \"\"name\" SET day = '2024-03-01'", at: world.path)
      try mirror.update(from: store)
      #expect(try world.rows("SELECT day FROM @\(name)") == [["2024-03-01"]])
      #expect(try mirror.verify(against: store) == [])
    }

    @Test(arguments: [
      ("title", "'a' || char(0)", "contains U+0000"), ("price", "'1e5'", "plain digits"),
      ("token", "lower('6BA7B810-9DAD-11D1-80B4-00C04FD430C8')", "36 characters in upper case"),
      ("at", "1e15", "too far away"),
      ("tags", "'{'", "is not valid JSON"),
    ])
    func aValueThatAColumnCannotHoldIsNamedAndNothingChanges(
      _ field: String, _ value: String, _ reason: String
    ) throws {
      let world = try MirrorWorld(server, "refused \(field)")
      let store = try world.open()
      try store.write { tx in try tx.insert(Sample(id: 1, title: "before")) }
      let mirror = try world.mirror()
      try mirror.update(from: store)
      try store.write { tx in try tx.insert(Sample(id: 2, title: "good")) }
      // Another program does not check what a field means.
      try PlainFile.execute("UPDATE Sample SET \(field) = \(value) WHERE id = 2", at: world.path)
      let error = #expect(throws: StoreError.self) { try mirror.update(from: store) }
      #expect(error?.message.contains(reason) == true, "\(String(describing: error))")
      #expect(error?.model == "Sample")
      #expect(error?.key == [.integer(2)])
      #expect(error?.code == .invalidValue)
      #expect(try world.rows(#"SELECT title FROM @"Sample""#) == [["before"]])
      try PlainFile.execute("UPDATE Sample SET \(field) = NULL WHERE id = 2", at: world.path)
      try mirror.update(from: store)
      #expect(try world.rows(#"SELECT count(*)::text FROM @"Sample""#) == [["2"]])
    }

    // Continuing

    @Test func anUpdateWritesOnlyWhatChanged() throws {
      let world = try MirrorWorld(server, "changes")
      let store = try world.open()
      let mirror = try world.mirror()
      try store.write { tx in
        for number in 0..<50 { try tx.insert(Label(name: "n\(number)", count: 0)) }
      }
      #expect(try mirror.update(from: store).recordCount == 50)
      #expect(try mirror.update(from: store).recordCount == 0)
      try store.write { tx in
        try tx.update(Label(name: "n1", count: 1))
        try tx.update(Label(name: "n1", count: 2))
        _ = try tx.delete(Label.self, "n2")
        try tx.insert(Label(name: "new", count: 3))
      }
      try store.write { tx in
        try tx.insert(Label(name: "short", count: 3))
        _ = try tx.delete(Label.self, "short")
      }
      let progress = try mirror.update(from: store)
      #expect(progress.recordCount == 4)
      #expect(progress.rebuilt == [])
      #expect(progress.position == (try store.changeJournal.position()))
      let labels = try world.labels()
      #expect(labels.count == 50)
      #expect(labels.contains(Label(name: "n1", count: 2)))
      #expect(labels.contains(Label(name: "new", count: 3)))
      #expect(try mirror.verify(against: store) == [])
    }

    /// Random transactions, some of another program, with updates of the mirror at random times.
    /// The rows are compared by their values, not by the mirror's own comparison.
    @Test func theMirrorEqualsTheStoreAfterRandomChanges() throws {
      let seed = ProcessInfo.processInfo.environment["MODELSTORE_SEED"].flatMap(UInt64.init) ?? 7
      print("seed \(seed)")
      var random = StepGenerator(seed: seed)
      let world = try MirrorWorld(server, "random")
      let store = try world.open()
      let mirror = try world.mirror()
      try mirror.update(from: store)
      for step in 0..<120 {
        if step % 3 == 0 {
          let name = random.name()
          try PlainFile.execute(
            """
            INSERT INTO Label VALUES ('\(name)', \(step)) ON CONFLICT DO UPDATE SET count = -1;
            UPDATE OR IGNORE Label SET name = '\(random.name())' WHERE name = '\(random.name())';
            """, at: world.path)
        } else {
          try store.write { tx in
            for _ in 0..<random.below(6) {
              let name = random.name()
              switch random.below(3) {
              case 0: _ = try tx.delete(Label.self, name)
              case 1: try tx.upsert(Label(name: name, count: Int64(step)))
              default:
                try? tx.savepoint { tx in
                  try tx.upsert(Label(name: name, count: -5))
                  throw CancellationError()
                }
              }
            }
          }
        }
        guard random.below(4) == 0 else { continue }
        let progress = try mirror.update(from: store)
        #expect(progress.rebuilt == [])
        let expected = try store.fetch(Label.all).sorted { $0.name < $1.name }
        try #require(try world.labels() == expected, "step \(step)")
      }
      #expect(try mirror.verify(against: store) == [])
    }

    @Test func aMirrorOfAnOlderCopyOfTheFileIsWrittenAgain() throws {
      let world = try MirrorWorld(server, "older")
      var store = try world.open()
      let mirror = try world.mirror()
      try store.write { tx in try tx.insert(Label(name: "kept", count: 1)) }
      let copy = world.path + ".copy"
      try store.backup(to: copy)
      try store.write { tx in try tx.insert(Label(name: "lost", count: 1)) }
      try mirror.update(from: store)
      store.close()
      try FileManager.default.removeItem(atPath: world.path)
      for suffix in ["-wal", "-shm"] {
        try? FileManager.default.removeItem(atPath: world.path + suffix)
      }
      try FileManager.default.moveItem(atPath: copy, toPath: world.path)
      store = try world.open()
      // As many positions as before, with other changes.
      try store.write { tx in try tx.insert(Label(name: "other", count: 2)) }
      let progress = try mirror.update(from: store)
      #expect(progress.rebuilt == ["Label", "Sample"])
      #expect(try world.labels().map(\.name) == ["kept", "other"])
    }

    @Test func aMirrorIsWrittenAgainWhereTheJournalLacksChanges() throws {
      let world = try MirrorWorld(server, "gaps")
      let store = try world.open()
      let mirror = try world.mirror()
      try mirror.update(from: store)
      try store.changeJournal.disable(for: ["Label"])
      #expect(code { try mirror.update(from: store) } == .misuse)
      try store.write { tx in try tx.insert(Label(name: "unseen", count: 1)) }
      try store.changeJournal.enable(for: ["Label"])
      #expect(try mirror.update(from: store).rebuilt == ["Label"])
      #expect(try world.labels().map(\.name) == ["unseen"])
      try store.write { tx in try tx.insert(Label(name: "trimmed", count: 1)) }
      try store.changeJournal.trim(JournalRetention(maxEntryCount: 0))
      #expect(try mirror.update(from: store).rebuilt == ["Label", "Sample"])
      #expect(try world.labels().map(\.name) == ["trimmed", "unseen"])
      #expect(try mirror.verify(against: store) == [])
    }

    @Test func aMirrorIsWrittenAgainWhileTheJournalIsDamaged() throws {
      let world = try MirrorWorld(server, "damaged")
      let store = try world.open()
      let mirror = try world.mirror()
      try mirror.update(from: store)
      store.close()
      try PlainFile.execute(
        "DROP TRIGGER _ms_journal_Label_insert; INSERT INTO Label VALUES ('unseen', 1)",
        at: world.path)
      // It cannot repair the triggers.
      let reader = try Store(
        at: world.path, models: [], configuration: StoreConfiguration(access: .readOnly))
      #expect(try mirror.update(from: reader).rebuilt == ["Label"])
      #expect(try world.labels().map(\.name) == ["unseen"])
    }

    @Test func valuesMoveBetweenRecordsUnderAUniqueIndex() throws {
      let world = try MirrorWorld(server, "unique")
      let store = try world.open()
      let mirror = try world.mirror()
      try store.write { tx in
        for number in 1...3 as ClosedRange<Int64> {
          try tx.insert(Sample(id: number, title: "t\(number)"))
        }
      }
      try mirror.update(from: store)
      try server.execute(#"CREATE UNIQUE INDEX ON "unique"."Sample" (title)"#)
      try store.write { tx in
        _ = try tx.delete(Sample.self, 3)
        try tx.update(Sample(id: 1, title: "t3"))
      }
      #expect(try mirror.update(from: store).rebuilt == [])
      #expect(try mirror.verify(against: store) == [])
    }

    @Test func aTableThatAnotherProgramDroppedIsWrittenAgain() throws {
      let world = try MirrorWorld(server, "dropped")
      let store = try world.open()
      try store.write { tx in try tx.insert(Label(name: "a", count: 1)) }
      let mirror = try world.mirror()
      try mirror.update(from: store)
      try server.execute(#"DROP TABLE dropped."Label""#)
      #expect(try mirror.update(from: store).rebuilt == ["Label"])
      #expect(try world.labels() == [Label(name: "a", count: 1)])
    }

    @Test func keysAreEnoughAndKeysOfAnotherCaseAreOtherKeys() throws {
      let world = try MirrorWorld(server, "cases")
      try PlainFile.execute(
        """
        CREATE TABLE t (name TEXT PRIMARY KEY COLLATE NOCASE, n INTEGER) WITHOUT ROWID;
        INSERT INTO t VALUES ('a', 1);
        """, at: world.path)
      let store = try Store(at: world.path, models: [])
      try store.adopt()
      try store.changeJournal.enable(.keys)
      let mirror = try world.mirror()
      try mirror.update(from: store)
      try PlainFile.execute("UPDATE t SET name = 'A', n = 2", at: world.path)
      let progress = try mirror.update(from: store)
      #expect(progress.rebuilt == [])
      #expect(try world.rows("SELECT name, n::text FROM @t") == [["A", "2"]])
    }

    @Test(arguments: ["'a' || char(0)", "CAST(x'ff' AS TEXT)"])
    func aKeyThatPostgreSQLCannotHoldStopsTheMirrorWhileItIsThere(_ key: String) throws {
      let world = try MirrorWorld(server, "keys \(key.count)")
      let store = try world.open()
      let mirror = try world.mirror()
      try mirror.update(from: store)
      try PlainFile.execute("INSERT INTO Label VALUES (\(key), 1)", at: world.path)
      #expect(code { try mirror.update(from: store) } == .invalidValue)
      try PlainFile.execute("DELETE FROM Label", at: world.path)
      try store.write { tx in try tx.insert(Label(name: "good", count: 1)) }
      try mirror.update(from: store)
      #expect(try world.labels().map(\.name) == ["good"])
      #expect(try mirror.verify(against: store) == [])
    }

    // The schema

    @Test func newFieldsBecomeColumnsUnderViewsThatReadTheTable() throws {
      let world = try MirrorWorld(server, "fields")
      try PlainFile.execute(
        "CREATE TABLE t (id INTEGER PRIMARY KEY, a TEXT); INSERT INTO t VALUES (1, 'x')",
        at: world.path)
      var store = try Store(at: world.path, models: [])
      try store.adopt()
      try store.changeJournal.enable()
      let mirror = try world.mirror()
      try mirror.update(from: store)
      try server.execute("CREATE VIEW fields.v AS SELECT id, a FROM fields.t")
      for (change, rows) in [
        ("ADD COLUMN b INTEGER DEFAULT 7", [["1", "x", "7"]]), ("DROP COLUMN b", nil),
      ] {
        // Its triggers keep a column from being dropped.
        try store.changeJournal.disable(for: ["t"])
        try PlainFile.execute("ALTER TABLE t \(change)", at: world.path)
        try store.refreshAdopted()
        try store.changeJournal.enable(for: ["t"])
        store.close()
        store = try Store(at: world.path, models: [])
        guard let rows else { continue }
        #expect(try mirror.update(from: store).rebuilt == ["t"])
        #expect(try world.rows("SELECT id::text, a, b::text FROM @t") == rows)
      }
      // A dropped field needs a new table, which the view prevents.
      let error = #expect(throws: StoreError.self) { try mirror.update(from: store) }
      #expect(error?.code == .mirrorUnavailable)
      #expect(error?.message.contains("other objects depend on it") == true)
      #expect(try world.rows("SELECT b::text FROM @t") == [["7"]])
      #expect(code { try mirror.remove() } == .mirrorUnavailable)
      try server.execute("DROP VIEW fields.v")
      #expect(try mirror.update(from: store).rebuilt == ["t"])
      #expect(try world.rows("SELECT * FROM @t").map(\.count) == [2])
    }

    @Test func modelsThatExchangeTheirNamesAreWrittenAgain() throws {
      let world = try MirrorWorld(server, "renamed")
      try PlainFile.execute(
        """
        CREATE TABLE a (id INTEGER PRIMARY KEY, v TEXT);
        CREATE TABLE b (id INTEGER PRIMARY KEY, v TEXT);
        INSERT INTO a VALUES (1, 'of a'); INSERT INTO b VALUES (2, 'of b');
        """, at: world.path)
      var store = try Store(at: world.path, models: [])
      try store.adopt()
      try store.changeJournal.enable()
      let mirror = try world.mirror()
      try mirror.update(from: store)
      store.close()
      let exchange = Migration(
        version: 1, name: "exchange",
        sql: """
          ALTER TABLE a RENAME TO c; ALTER TABLE b RENAME TO a; ALTER TABLE c RENAME TO b;
          """)
      store = try Store(at: world.path, models: [], migrations: [exchange])
      #expect(try mirror.update(from: store).rebuilt == ["a", "b"])
      #expect(try world.rows("SELECT v FROM @a") == [["of b"]])
      #expect(try mirror.verify(against: store) == [])
      store.close()
      let rename = Migration(version: 2, name: "rename", sql: "ALTER TABLE a RENAME TO c")
      store = try Store(at: world.path, models: [], migrations: [exchange, rename])
      #expect(code { _ = try mirror.verify(against: store) } == .misuse)
      #expect(try mirror.update(from: store).rebuilt == ["c"])
      #expect(try mirror.verify(against: store) == [])
    }

    @Test func namesThatPostgreSQLTakesAreRefused() throws {
      let world = try MirrorWorld(server, "taken names")
      try PlainFile.execute(
        """
        CREATE TABLE boxes (id INTEGER PRIMARY KEY, xmin REAL);
        CREATE TABLE _modelstore_mirror (id INTEGER PRIMARY KEY);
        CREATE TABLE \(String(repeating: "n", count: 64)) (id INTEGER PRIMARY KEY);
        CREATE TABLE good (id INTEGER PRIMARY KEY);
        """, at: world.path)
      let store = try Store(at: world.path, models: [])
      let names = try store.adopt().map(\.name)
      try store.changeJournal.enable()
      let mirror = try world.mirror()
      for name in names where name != "good" {
        #expect(
          code { try mirror.update(from: store, models: [name]) } == .unsupportedSchema, "\(name)")
      }
      #expect(names.count == 4)
      #expect(try mirror.update(from: store, models: ["good"]).rebuilt == ["good"])
    }

    @Test func modelsAreAddedByNameAndLeaveWithTheStore() throws {
      let world = try MirrorWorld(server, "models")
      let store = try world.open()
      let mirror = try world.mirror()
      func tables() throws -> [[String]] {
        try world.rows("SELECT model FROM @_modelstore_mirror ORDER BY model")
      }
      #expect(try mirror.update(from: store, models: ["Label"]).rebuilt == ["Label"])
      #expect(try tables() == [["Label"]])
      #expect(try mirror.update(from: store, models: ["Sample"]).rebuilt == ["Sample"])
      #expect(try tables() == [["Label"], ["Sample"]])
      try mirror.remove(models: ["Sample", "Sample"])
      #expect(try tables() == [["Label"]])
      try mirror.update(from: store)
      #expect(code { try mirror.update(from: store, models: ["Nope"]) } == .unknownModel)
      store.close()
      let drop = Migration(version: 1, name: "drop labels", sql: "DROP TABLE Label")
      let later = try world.open(Sample.self, migrations: [drop])
      try mirror.update(from: later, models: [])
      #expect(try tables() == [["Sample"]])
      #expect(code { try mirror.remove(models: ["Label"]) } == .unknownModel)
      try mirror.remove(models: ["Sample"])
      #expect(
        try world.rows("SELECT nspname FROM pg_namespace WHERE nspname = 'models'") == [])
      try mirror.remove()
    }

    @Test func whatCannotBeAMirrorIsRefused() throws {
      #expect(code { _ = try PostgresMirror("host", schema: "m") } == .mirrorUnavailable)
      #expect(code { _ = try PostgresMirror("host=a", schema: "") } == .misuse)
      let world = try MirrorWorld(server, "refusals")
      let missing = try PostgresMirror("host=\(world.path)-none", schema: "m")
      let store = try world.open()
      #expect(code { _ = try world.mirror().verify(against: store) } == .misuse)
      #expect(code { try world.mirror().rebuild(from: store) } == .misuse)
      #expect(
        try world.rows("SELECT nspname FROM pg_namespace WHERE nspname = 'refusals'") == [])
      #expect(code { try missing.update(from: store) } == .mirrorUnavailable)
      try PlainFile.execute(
        "CREATE TABLE loose (id INTEGER PRIMARY KEY, v); INSERT INTO loose VALUES (1, 2), (2, 'x')",
        at: world.path)
      try store.adopt(["loose"])
      try store.changeJournal.enable(for: ["loose"])
      #expect(code { try world.mirror().update(from: store) } == .unsupportedSchema)
      #expect(try world.mirror().update(from: store, models: ["Label"]).rebuilt == ["Label"])
    }
  }
#endif
