import Foundation
import Testing

@testable import ModelStore

/// What differs between two stores or two states, record by record.
@Suite(.tags(.unit)) struct DifferenceTests {
  private let directory: TemporaryDirectory

  init() throws {
    directory = try TemporaryDirectory()
  }

  private func music(
    _ name: String, _ artists: [Artist], _ albums: [Album] = [], bindings: [FieldBinding] = []
  ) throws -> Store {
    var configuration = StoreConfiguration()
    configuration.changeJournal = .full
    let store = try Store(
      at: directory.file(name), models: Artist.self, Album.self, bindings: bindings,
      configuration: configuration)
    try store.write { tx in
      for artist in artists { try tx.insert(artist) }
      for album in albums { try tx.insert(album) }
    }
    return store
  }

  @Test func theDifferenceListsInsertedUpdatedAndDeletedRecords() throws {
    let old = try music(
      "old", [Artist(id: 1, name: "Anna"), Artist(id: 2, name: "Ben"), Artist(id: 3, name: "Cy")])
    let new = try music(
      "new", [Artist(id: 2, name: "Benno"), Artist(id: 3, name: "Cy"), Artist(id: 4, name: "Di")],
      [Album(id: 9, title: "t")])
    let difference = try old.difference(to: new)
    let album: [String: SQLValue] = [
      "id": .integer(9), "title": .text("t"), "artistID": .null, "artistName": .null,
    ]
    #expect(
      difference == [
        RecordDifference(model: "Album", key: [.integer(9)], old: nil, new: album),
        RecordDifference(
          model: "Artist", key: [.integer(1)], old: ["id": .integer(1), "name": .text("Anna")],
          new: nil),
        RecordDifference(
          model: "Artist", key: [.integer(2)], old: ["name": .text("Ben")],
          new: ["name": .text("Benno")]),
        RecordDifference(
          model: "Artist", key: [.integer(4)], old: nil,
          new: ["id": .integer(4), "name": .text("Di")]),
      ])
    #expect(difference.map(\.operation) == [.insert, .delete, .update, .insert])
    let coded = try JSONDecoder().decode(
      [RecordDifference].self, from: JSONEncoder().encode(difference))
    #expect(coded == difference)
    #expect(try old.difference(to: old).isEmpty)
    let changes = try old.apply(coded)
    #expect(changes.changes.count == 4)
    #expect(try old.contentHash() == new.contentHash())
    #expect(try old.difference(to: new).isEmpty)
  }

  @Test func aPreviewOfADifferenceChangesNothing() throws {
    let old = try music("old", [Artist(id: 1, name: "Anna")])
    let new = try music("new", [Artist(id: 1, name: "Anne")])
    let hash = try old.contentHash()
    let difference = try old.difference(to: new)
    #expect(try old.apply(difference, mode: .preview).changes.map(\.fields.first?.name) == ["name"])
    #expect(try old.contentHash() == hash)
  }

  @Test func recordsThatChangedSinceAreConflicts() throws {
    let old = try music("old", [Artist(id: 1, name: "Anna"), Artist(id: 2, name: "Ben")])
    let new = try music("new", [Artist(id: 1, name: "Anne"), Artist(id: 3, name: "Cy")])
    let difference = try old.difference(to: new)
    try old.write { tx in
      try tx.update(Artist(id: 1, name: "Annika"))
      try tx.delete(Artist.self, 2)
      try tx.insert(Artist(id: 3, name: "Cyrus"))
    }
    let hash = try old.contentHash()
    let error = failure { try old.apply(difference) }
    #expect(error?.code == .conflict)
    #expect(error?.violations.map(\.key) == [[.integer(1)], [.integer(2)], [.integer(3)]])
    #expect(try old.contentHash() == hash)
  }

  @Test func boundFieldsFollowAndRulesAreChecked() throws {
    let binding = FieldBinding.copy(\Artist.name, to: \Album.artistName, through: \Album.artistID)
    let old = try music(
      "old", [Artist(id: 1, name: "Anna")], [Album(id: 1, title: "a", artistID: 1)],
      bindings: [binding])
    let new = try music(
      "new", [Artist(id: 1, name: "Anne")], [Album(id: 1, title: "a", artistID: 1)],
      bindings: [binding])
    let difference = try old.difference(to: new)
    #expect(difference.map(\.model) == ["Album", "Artist"])
    try old.apply(difference)
    #expect(try old.find(Album.self, 1)?.artistName == "Anne")
    #expect(try old.contentHash() == new.contentHash())
    // A difference made by hand with a bound field alone changes nothing.
    let byHand = RecordDifference(
      model: "Album", key: [.integer(1)], old: ["artistName": .text("Anne")],
      new: ["artistName": .text("Nobody")])
    #expect(try old.apply([byHand]).isEmpty)
    let tooLong = RecordDifference(
      model: "Artist", key: [.integer(1)], old: ["name": .text("Anne")],
      new: ["name": .text("")])
    #expect(failure { try old.apply([tooLong]) }?.code == .rejected)
  }

  @Test func valuesOfAnotherStorageClassDiffer() throws {
    func store(_ name: String, _ values: String) throws -> Store {
      try PlainDatabase(directory.file(name)).execute(
        "CREATE TABLE T(k INTEGER PRIMARY KEY, v); INSERT INTO T VALUES \(values)")
      let store = try Store(at: directory.file(name))
      try store.adopt()
      return store
    }
    let left = try store("left", "(1, 1), (2, 0.0), (3, 'a'), (4, x'61'), (5, NULL), (6, 'e')")
    let right = try store("right", "(1, 1.0), (2, -0.0), (3, x'61'), (4, x'61'), (5, ''), (6, 'e')")
    let difference = try left.difference(to: right)
    #expect(difference.map(\.key) == [1, 2, 3, 5].map { [.integer($0)] })
    try left.apply(difference)
    #expect(try left.contentHash() == right.contentHash())
  }

  @Test func modelsThatDoNotMatchAreRefused() throws {
    let old = try music("old", [Artist(id: 1, name: "Anna")])
    try PlainDatabase(directory.file("other")).execute(
      "CREATE TABLE Artist(id INTEGER PRIMARY KEY)")
    let other = try Store(at: directory.file("other"))
    try other.adopt()
    let refused = failure { try old.difference(to: other) }
    #expect(refused?.code == .schemaMismatch)
    #expect(
      refused?.message
        == "Artist: \(other.path) lacks the field name. So the stores cannot be compared.")
    #expect(refused?.model == "Artist")
    let only = try Store(at: directory.file("only"), models: Album.self, Artist.self)
    try old.write { tx in try tx.execute("DELETE FROM Artist") }
    #expect(try old.difference(to: only).isEmpty)
    let record = RecordDifference(model: "Nothing", key: [.integer(1)], old: nil, new: [:])
    #expect(failure { try old.apply([record]) }?.code == .unknownModel)
  }

  @Test func everyModelThatDoesNotMatchIsNamedBeforeAnyRecordIsReported() throws {
    func adopted(_ name: String, _ script: String) throws -> Store {
      try PlainDatabase(directory.file(name)).execute(script)
      let store = try Store(at: directory.file(name))
      try store.adopt()
      return store
    }
    let left = try adopted(
      "left",
      """
      CREATE TABLE A (id INTEGER PRIMARY KEY); INSERT INTO A VALUES (1);
      CREATE TABLE B (id INTEGER PRIMARY KEY, x, y);
      CREATE TABLE C (a TEXT PRIMARY KEY NOT NULL, b TEXT NOT NULL);
      CREATE TABLE D (id INTEGER PRIMARY KEY); INSERT INTO D VALUES (1);
      """)
    let right = try adopted(
      "right",
      """
      CREATE TABLE A (id INTEGER PRIMARY KEY);
      CREATE TABLE B (id INTEGER PRIMARY KEY, z);
      CREATE TABLE C (a TEXT NOT NULL, b TEXT PRIMARY KEY NOT NULL);
      CREATE TABLE E (id INTEGER PRIMARY KEY);
      """)
    var count = 0
    let error = failure { try left.forEachDifference(to: right) { _ in count += 1 } }
    #expect(error?.code == .schemaMismatch && error?.model == nil)
    #expect(
      error?.message == """
        B: \(right.path) lacks the fields x, y; \(left.path) lacks the field z. \
        C: the key is (a) in \(left.path) and (b) in \(right.path). \
        Only \(left.path) has the model D, with records. So the stores cannot be compared.
        """)
    #expect(count == 0)
  }

  @Test func theDifferenceOfTwoPositionsIsTheNetChange() throws {
    let store = try music("old", [Artist(id: 1, name: "Anna"), Artist(id: 2, name: "Ben")])
    let copy = try music("copy", [Artist(id: 1, name: "Anna"), Artist(id: 2, name: "Ben")])
    let start = try store.changeJournal.position()
    try store.write { tx in try tx.update(Artist(id: 1, name: "x")) }
    try store.write { tx in
      try tx.update(Artist(id: 1, name: "Anne"))
      try tx.delete(Artist.self, 2)
      try tx.insert(Artist(id: 3, name: "Cy"))
    }
    let end = try store.changeJournal.position()
    try store.write { tx in try tx.update(Artist(id: 3, name: "later")) }
    let difference = try store.difference(from: start, to: end)
    #expect(
      difference == [
        RecordDifference(
          model: "Artist", key: [.integer(1)], old: ["name": .text("Anna")],
          new: ["name": .text("Anne")]),
        RecordDifference(
          model: "Artist", key: [.integer(2)], old: ["id": .integer(2), "name": .text("Ben")],
          new: nil),
        RecordDifference(
          model: "Artist", key: [.integer(3)], old: nil,
          new: ["id": .integer(3), "name": .text("Cy")]),
      ])
    try copy.apply(difference)
    #expect(try copy.fetch(Artist.all) == store.fetch(Artist.all, at: end))
  }

  /// After a restored backup, a position that was noted before may not exist any more.
  @Test func aPositionAfterTheEndOfTheJournalIsRefused() throws {
    let store = try music("old", [Artist(id: 1, name: "Anna")])
    let end = try store.changeJournal.position()
    let later = JournalPosition(rawValue: end.rawValue + 1)
    #expect(try store.difference(from: end).isEmpty)
    #expect(failure { try store.difference(from: later) }?.code == .misuse)
    #expect(failure { try store.difference(from: .start, to: later) }?.code == .misuse)
    let target = directory.file("backup")
    try store.backup(to: target)
    try store.write { tx in try tx.update(Artist(id: 1, name: "Anne")) }
    let noted = try store.changeJournal.position()
    try Store.restore(directory.file("old"), from: target)
    #expect(failure { try store.difference(from: noted) }?.code == .misuse)
    #expect(try store.difference(from: end, to: end).isEmpty)
  }

  /// Each record waits for the next one, so the last one has to be first.
  @Test(arguments: [1, -1]) func recordsThatWaitForOneAnotherTakeFewStatements(by step: Int) throws
  {
    let count = 300
    func store(_ name: String, movedBy step: Int) throws -> Store {
      try PlainDatabase(directory.file(name)).execute(
        """
        CREATE TABLE Tag(id INTEGER PRIMARY KEY, rank INTEGER NOT NULL UNIQUE);
        WITH RECURSIVE n(i) AS (VALUES (1) UNION ALL SELECT i + 1 FROM n WHERE i < \(count))
        INSERT INTO Tag SELECT i, i + \(step) FROM n;
        """)
      let store = try Store(at: directory.file(name))
      try store.adopt()
      return store
    }
    let (old, new) = (try store("old", movedBy: 0), try store("new", movedBy: step))
    let differences = try old.difference(to: new)
    let statementCount = try old.write { tx in
      let before = tx.access.connection.statementCount
      var reversion = try old.emptyReversion(JournalLayouts(), tx.access)
      try reversion.add(differences)
      _ = try reversion.reach(in: tx)
      return tx.access.connection.statementCount - before
    }
    #expect(statementCount < 40 * count)
    #expect(try old.contentHash() == new.contentHash())
  }

  /// So a difference needs no memory for the rows of a table.
  @Test func rowsAreReadInTheOrderOfTheirKeysWithoutSorting() throws {
    try PlainDatabase(directory.file("keys")).execute(
      """
      CREATE TABLE Number(id INTEGER PRIMARY KEY, v);
      CREATE TABLE Word(word TEXT PRIMARY KEY NOT NULL, v);
      CREATE TABLE Pair(a TEXT NOT NULL, b INTEGER NOT NULL, v, PRIMARY KEY (b, a)) WITHOUT ROWID;
      CREATE TABLE Folded(word TEXT PRIMARY KEY NOT NULL COLLATE NOCASE, v);
      """)
    let store = try Store(at: directory.file("keys"))
    try store.adopt()
    let sorted = try store.read { reads in
      try store.schema.models.filter { model in
        let rows = StoreComparison.rows(of: model, model.fields.map(\.name))
        return try reads.access.connection.rows(SQLText(sql: "EXPLAIN QUERY PLAN \(rows.sql)")) {
          try $0.text(at: 3)
        }.contains { $0.contains("TEMP B-TREE") }
      }.map(\.name)
    }
    #expect(sorted == ["Folded"])
  }

  /// Each store has one reader, and both are compared in both directions at the same time.
  @Test func comparisonsInBothDirectionsDoNotWaitForEachOther() throws {
    func store(_ name: String) throws -> Store {
      try Store(
        at: directory.file(name), models: Artist.self,
        configuration: StoreConfiguration(maxReaderCount: 1))
    }
    let (one, two) = (try store("one"), try store("two"))
    try one.write { tx in try tx.insert(Artist(id: 1, name: "Anna")) }
    let failures = Recorder<String>()
    DispatchQueue.concurrentPerform(iterations: 2) { number in
      let (left, right) = number == 0 ? (one, two) : (two, one)
      for _ in 0..<200 {
        do {
          if try left.difference(to: right).count != 1 { failures.add("another difference") }
        } catch {
          failures.add("\(error)")
        }
      }
    }
    #expect(failures.events == [])
  }
}
