import Testing

@testable import ModelStore

@Suite(.tags(.unit)) struct UndoTests {
  static let tables = """
    CREATE TABLE Parent (id INTEGER PRIMARY KEY, name TEXT UNIQUE, n INTEGER);
    CREATE TABLE Child (
      id INTEGER PRIMARY KEY,
      parent INTEGER REFERENCES Parent (id) ON DELETE CASCADE ON UPDATE CASCADE
    );
    CREATE TABLE Toy (
      id INTEGER PRIMARY KEY, child INTEGER REFERENCES Child (id) ON DELETE CASCADE
    );
    INSERT INTO Parent VALUES (1, 'a', 1), (2, 'b', 2);
    INSERT INTO Child VALUES (1, 1), (2, 1), (3, 2);
    INSERT INTO Toy VALUES (1, 1), (2, 3);
    """

  private static func content(_ world: JournalWorld) throws -> [[[SQLValue]]] {
    try ["Parent", "Child", "Toy"].map { try world.other.rows("SELECT * FROM \($0) ORDER BY id") }
  }

  static let scripts: [[SQLText]] = [
    ["INSERT INTO Parent VALUES (3, 'c', 3)", "INSERT INTO Child VALUES (4, 3)"],
    ["DELETE FROM Parent WHERE id = 1"],
    ["UPDATE Parent SET id = 9 WHERE id = 1"],
    ["UPDATE Parent SET id = 9, n = 5 WHERE id = 1", "UPDATE Parent SET name = 'z' WHERE id = 9"],
    [
      "UPDATE Parent SET name = 'tmp' WHERE id = 1", "UPDATE Parent SET name = 'a' WHERE id = 2",
      "UPDATE Parent SET name = 'b' WHERE id = 1",
    ],
    ["INSERT OR REPLACE INTO Parent VALUES (1, 'b', 7)"],
    ["DELETE FROM Child", "INSERT INTO Child VALUES (1, 2), (7, 2)"],
    ["INSERT INTO Parent VALUES (5, 'e', 1)", "DELETE FROM Parent WHERE id = 5"],
    ["UPDATE Parent SET n = NULL", "UPDATE Parent SET n = 4.5 WHERE id = 2"],
  ]

  @Test(arguments: scripts.indices)
  func aTransactionIsUndoneAndRedone(_ index: Int) throws {
    let world = try JournalWorld(Self.tables)
    let before = try Self.content(world)
    let id = try world.store.write { tx in
      tx.sign(author: "ann")
      for statement in Self.scripts[index] { try tx.execute(statement) }
      return tx.id
    }
    let after = try Self.content(world)
    let undo = try #require(try world.store.undo())
    #expect(undo.reverted == id)
    #expect(try Self.content(world) == before)
    let redo = try #require(try world.store.redo())
    #expect(redo.reverted == undo.transaction)
    #expect(try Self.content(world) == after)
    #expect(try world.store.redo() == nil)
    #expect(try world.store.revert(id, by: "bob")?.reverted == id)
    #expect(try Self.content(world) == before)
    #expect(try world.store.undo() == nil)
    let told = try world.store.changeJournal.newestTransactions(limit: 4)
    #expect(told.map(\.reverted) == [id, undo.transaction, id, nil])
    #expect(told.map(\.signature.author) == ["bob", nil, nil, "ann"])
    #expect(world.errors.events == [])
  }

  @Test func aNewOwnChangeEndsRedo() throws {
    let world = try JournalWorld(Self.tables)
    func insert(_ number: Int, by author: String) throws {
      try world.store.write { tx in
        tx.sign(author: author)
        try tx.execute("INSERT INTO Parent VALUES (\(number), NULL, \(number))")
      }
    }
    func numbers() throws -> [SQLValue] {
      try world.other.rows("SELECT n FROM Parent WHERE n >= 10 ORDER BY n").map { $0[0] }
    }
    try insert(10, by: "ann")
    let undo = try #require(try world.store.undo(by: "ann"))
    try insert(20, by: "ann")
    #expect(try world.store.undo(by: "ann") != nil)
    try insert(30, by: "bob")
    #expect(try world.store.redo() == nil)
    // What bob did since does not end it for ann, and what she did before that does.
    #expect(try world.store.redo(by: "ann") != nil)
    #expect(try world.store.redo(by: "ann") == nil)
    #expect(try numbers() == [.integer(20), .integer(30)])
    #expect(try world.store.revert(undo.transaction, by: "ann") != nil)
    #expect(try numbers() == [.integer(10), .integer(20), .integer(30)])
    // Transactions without recorded changes and changes of other programs do not end it either.
    #expect(try world.store.undo(by: "bob") != nil)
    try world.other.execute("INSERT INTO Parent VALUES (40, NULL, 40)")
    try world.store.write { _ in }
    #expect(try world.store.redo(by: "bob") != nil)
    #expect(try numbers() == [.integer(10), .integer(20), .integer(30), .integer(40)])
  }

  @Test func aRangeIsUndoneAsOneTransaction() throws {
    let world = try JournalWorld(Self.tables)
    let before = try Self.content(world)
    let start = try world.store.changeJournal.position()
    for (index, script) in Self.scripts.prefix(4).enumerated() {
      if index == 2 { try world.other.execute("UPDATE Parent SET n = n + 1 WHERE id = 2") }
      try world.store.write { tx in
        for statement in script { try tx.execute(statement) }
      }
    }
    let reversal = try #require(try world.store.revert(after: start))
    #expect(reversal.reverted == nil)
    #expect(try Self.content(world) == before)
    #expect(try world.store.revert(after: try world.store.changeJournal.position()) == nil)
    #expect(try world.store.undo()?.reverted == reversal.transaction)
  }

  @Test func anUnknownTransactionIsAnErrorAndNothingToUndoIsNil() throws {
    let world = try JournalWorld(Self.tables)
    #expect(try world.store.undo() == nil)
    #expect(try world.store.redo() == nil)
    let id = try world.store.write { tx in tx.id }
    #expect(failure { try world.store.revert(id) }?.code == .unknownTransaction)
    #expect(
      failure { try world.store.revert(TransactionID(rawValue: .max)) }?.code
        == .unknownTransaction)
  }

  @Test func onlyTransactionsOfTheSameProgramAndAuthorAreUndone() throws {
    let world = try JournalWorld(Self.tables)
    for (author, number) in [("ann", 10), ("bob", 20), ("ann", 30)] {
      try world.store.write { tx in
        tx.sign(author: author)
        try tx.execute("INSERT INTO Parent VALUES (\(number), NULL, \(number))")
      }
    }
    try world.other.execute("INSERT INTO Parent VALUES (40, NULL, 40)")
    func numbers() throws -> [SQLValue] {
      try world.other.rows("SELECT n FROM Parent WHERE n >= 10 ORDER BY n").map { $0[0] }
    }
    #expect(try world.store.undo(by: "bob") != nil)
    #expect(try numbers() == [.integer(10), .integer(30), .integer(40)])
    #expect(try world.store.undo(by: "bob") == nil)
    #expect(try world.store.undo(by: "ann") != nil)
    #expect(try world.store.undo(by: "ann") != nil)
    #expect(try numbers() == [.integer(40)])
    #expect(try world.store.redo(by: "bob") != nil)
    #expect(try numbers() == [.integer(20), .integer(40)])
  }

  @Test func aFieldThatChangedSinceIsAConflict() throws {
    let world = try JournalWorld(Self.tables)
    func conflicts(
      _ done: SQLText, _ later: String
    ) throws -> [String] {
      let id = try world.store.write { tx in
        try tx.execute(done)
        return tx.id
      }
      try world.other.execute(later)
      let content = try Self.content(world)
      let position = try world.store.changeJournal.position()
      let error = failure { try world.store.revert(id) }
      #expect(error?.code == .conflict)
      #expect(try Self.content(world) == content)
      #expect(try world.store.changeJournal.position() == position)
      return error?.violations.map { violation in
        let key = violation.key?.map(\.description).joined(separator: ",") ?? "?"
        return
          "\(violation.model) \(key) \(violation.fields.joined(separator: ",")): \(violation.message)"
      } ?? []
    }
    #expect(
      try conflicts("UPDATE Parent SET n = 10, name = 'q' WHERE id = 1", "UPDATE Parent SET n = 11")
        == ["Parent 1 n: changed since"])
    #expect(
      try conflicts("UPDATE Parent SET n = 12 WHERE id = 1", "DELETE FROM Parent WHERE id = 1")
        == ["Parent 1 : was deleted since"])
    #expect(
      try conflicts("DELETE FROM Toy", "INSERT INTO Toy VALUES (2, NULL)")
        == ["Toy 2 : exists again"])
    #expect(
      try conflicts(
        "INSERT INTO Parent VALUES (6, 'six', 6)", "UPDATE Parent SET name = '6' WHERE id = 6")
        == ["Parent 6 name: changed since"])
    #expect(
      try conflicts("INSERT INTO Parent VALUES (7, 'seven', 7)", "INSERT INTO Child VALUES (70, 7)")
        == ["Child 70 : would be deleted as well"])
  }

  @Test func otherFieldsMayHaveChangedSince() throws {
    let world = try JournalWorld(Self.tables)
    try world.store.write { tx in
      try tx.execute("UPDATE Parent SET n = 10, name = 'away' WHERE id = 1")
      try tx.execute("UPDATE Parent SET name = 'a' WHERE id = 1")
    }
    try world.other.execute("UPDATE Parent SET name = 'later' WHERE id = 1")
    #expect(try world.store.undo() != nil)
    #expect(
      try world.other.rows("SELECT * FROM Parent WHERE id = 1")
        == [[.integer(1), .text("later"), .integer(1)]])
  }

  @Test func undoUpdatesBoundFields() throws {
    let world = try HistoryWorld()
    let before = try world.content()
    try world.store.write { tx in try tx.set(\Artist.name, to: "q", for: 2) }
    try world.store.write { tx in _ = try tx.insert(Album(id: 90, title: "u", artistID: 2)) }
    let newest = try world.store.changeJournal.newestTransactions(limit: 2)
    let renaming = try #require(newest[1].id)
    let reversal = try #require(try world.store.revert(renaming))
    #expect(
      reversal.changes.changes.first { $0.model == "Album" && $0.key == [.integer(90)] }?.origin
        == .binding("Album.artistName"))
    #expect(try world.store.find(Album.self, 90)?.artistName == "artist 2")
    #expect(try world.store.undo() != nil)
    #expect(try world.content() == before)
  }

  @Test func validatorsMayRefuse() throws {
    let directory = try TemporaryDirectory()
    let store = try Store(
      at: directory.file("v.store"), models: Artist.self,
      validators: [
        Validator("Artist.name.grows", \Artist.name) { old, new, _ in
          (old ?? "").count > new.count ? .reject("must not shrink") : .accept
        }
      ])
    try store.changeJournal.enable()
    try store.write { tx in _ = try tx.insert(Artist(id: 1, name: "a")) }
    try store.write { tx in try tx.set(\Artist.name, to: "aa", for: 1) }
    #expect(failure { try store.undo() }?.code == .rejected)
    #expect(try store.fetch(Artist.all).map(\.name) == ["aa"])
  }

  @Test func aDeletionIsNotUndoneIfSomeColumnsAreNoFields() throws {
    let world = try JournalWorld("CREATE TABLE Item (id INTEGER PRIMARY KEY, v)")
    try world.other.execute(
      "INSERT INTO Item VALUES (1, 2); ALTER TABLE Item ADD COLUMN c; UPDATE Item SET c = 'kept'")
    try world.store.write { tx in try tx.execute("DELETE FROM Item") }
    #expect(failure { try world.store.undo() }?.code == .journalGap)
    #expect(try world.other.rows("SELECT * FROM Item") == [])
  }

  @Test func changesRecordedWithKeysAloneCannotBeUndone() throws {
    let world = try JournalWorld(Self.tables, detail: .keys)
    try world.store.write { tx in try tx.execute("UPDATE Parent SET n = 10") }
    #expect(failure { try world.store.undo() }?.code == .journalGap)
  }

  @Test func aChangeThatWouldNotBeRecordedIsNotUndone() throws {
    let world = try JournalWorld(Self.tables)
    let journal = world.store.changeJournal
    try world.store.write { tx in try tx.execute("INSERT INTO Parent VALUES (3, 'c', 3)") }
    let content = try Self.content(world)
    try journal.disable(for: ["Parent"])
    #expect(failure { try world.store.undo() }?.code == .journalGap)
    try journal.enable(.keys, for: ["Parent"])
    #expect(failure { try world.store.undo() }?.code == .journalGap)
    #expect(try Self.content(world) == content)
    try journal.enable(for: ["Parent"])
    let undo = try #require(try world.store.undo())
    #expect(try Self.content(world) != content)
    try journal.disable(for: ["Parent"])
    #expect(failure { try world.store.redo() }?.code == .journalGap)
    try journal.enable(for: ["Parent"])
    #expect(try world.store.redo()?.reverted == undo.transaction)
    #expect(try Self.content(world) == content)
  }

  @Test func undoingChangesThatTheJournalDoesNotRecordIsRefused() throws {
    let world = try JournalWorld(Self.tables)
    let journal = world.store.changeJournal
    let parents = StoreQuery<DynamicRecord>(try world.store.schema.model(named: "Parent"))
    let start = try journal.position()
    try world.store.write { tx in
      try tx.execute("UPDATE Parent SET n = 10")
      try tx.execute("UPDATE Parent SET n = 11")
    }
    let inside = JournalPosition(rawValue: start.rawValue + 1)
    #expect(failure { try world.store.fetch(parents, at: inside) }?.code == .misuse)
    #expect(
      failure { try world.store.fetch(parents, at: JournalPosition(rawValue: 1000)) }?.code
        == .misuse)
    #expect(
      try world.store.fetch(parents, at: start).map { $0["n"] } == [.integer(1), .integer(2)])
    let raw = parents.filter(.sql("n > 1"))
    #expect(failure { try world.store.fetch(raw, at: start) }?.code == .invalidQuery)
    try journal.disable(for: ["Parent"])
    #expect(failure { try world.store.fetch(parents, at: start) }?.code == .journalGap)
    try journal.enable()
    #expect(failure { try world.store.fetch(parents, at: start) }?.code == .journalGap)
    #expect(failure { try world.store.revert(after: start) }?.code == .journalGap)
    let children = StoreQuery<DynamicRecord>(try world.store.schema.model(named: "Child"))
    #expect(try world.store.fetch(children, at: start).count == 3)
    try world.other.execute("DELETE FROM _ms_journal WHERE position <= \(start.rawValue + 1)")
    #expect(failure { try world.store.fetch(children, at: start) }?.code == .journalTrimmed)
    #expect(failure { try world.store.revert(after: start) }?.code == .journalTrimmed)
  }
}
