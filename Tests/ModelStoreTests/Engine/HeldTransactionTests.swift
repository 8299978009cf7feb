import Testing

@testable import ModelStore

/// A transaction that reports the changes of each statement.
@Suite(.tags(.law)) struct HeldTransactionTests {
  private struct Stop: Error {}

  private func numbers() throws -> Store {
    let store = try Store.inMemory(models: Artist.self)
    try store.write { tx in
      for id in 1...6 { try tx.insert(Artist(id: Int64(id), name: "old")) }
    }
    return store
  }

  /// The names by key, in the state of the transaction.
  private func names(_ held: HeldTransaction) throws -> [Int64: String] {
    try held.read { reads in
      var names: [Int64: String] = [:]
      for artist in try reads.fetch(Artist.all) { names[artist.id] = artist.name }
      return names
    }
  }

  /// `1: a -> b`, with nothing on the side where there is no record, ordered by key.
  private func words(_ changes: [RecordChange]) -> [String] {
    changes.map { change in
      func name(_ image: [SQLValue]?) -> String {
        guard case .text(let name) = image?[1] else { return "" }
        return name
      }
      let fields = change.fields.map { "\($0.name) \($0.old) \($0.new)" }.joined()
      let isComplete =
        change.operation != .update
        || fields == "name '\(name(change.old))' '\(name(change.new))'"
      return "\(change.key[0]): \(name(change.old)) -> \(name(change.new))"
        + (isComplete ? "" : " without its field: \(fields)")
    }
    .sorted()
  }

  private func difference(_ old: [Int64: String], _ new: [Int64: String]) -> [String] {
    Set(old.keys).union(new.keys).filter { old[$0] != new[$0] }
      .map { "\($0): \(old[$0] ?? "") -> \(new[$0] ?? "")" }.sorted()
  }

  /// Statements of several records, some of which fail in the middle, are previewed or change back
  /// what others changed.
  @Test(arguments: UInt64(1)...30)
  func eachStatementReportsTheDifferenceThatItMade(seed: UInt64) throws {
    var random = SeededGenerator(seed: seed)
    let store = try numbers()
    let names = ["old", "a", "b"]
    _ = try store.writeReturningChanges { tx in
      let held = try HeldTransaction(tx, of: store)
      for step in 1...25 {
        let before = try self.names(held)
        let fails = Int.random(in: 0..<6, using: &random) == 0
        let mode: WriteMode = Int.random(in: 0..<6, using: &random) == 0 ? .preview : .commit
        var inside: [Int64: String] = [:]
        var changes: ChangeSet?
        do {
          changes = try held.changes(mode: mode) { tx in
            for _ in 0..<Int.random(in: 1...3, using: &random) {
              let id = Int64.random(in: 1...8, using: &random)
              let name = names.randomElement(using: &random) ?? ""
              switch Int.random(in: 0..<3, using: &random) {
              case 0: try tx.delete(Artist.self, id)
              case 1: try tx.execute("UPDATE Artist SET name = \(name) WHERE id = \(id)")
              default: _ = try tx.upsert(Artist(id: id, name: name))
              }
            }
            inside = try self.names(held)
            if fails { throw Stop() }
          }
        } catch is Stop {
          changes = nil
        }
        #expect((changes == nil) == fails)
        let after = try self.names(held)
        #expect(after == (fails || mode == .preview ? before : inside), "seed \(seed), \(step)")
        guard let changes else { continue }
        #expect(
          self.words(changes.changes) == self.difference(before, inside), "seed \(seed), \(step)")
      }
    }
  }

  @Test func whatCommitWouldRefuseLeavesTheTransactionOpen() throws {
    let validator = Validator("Artist.named", Artist.self) { change, _ in
      change.new?.name == "bad" ? .reject("must be better", \.name) : .accept
    }
    let store = try Store.inMemory(models: [Artist.self], validators: [validator])
    let changes = try store.writeReturningChanges { tx in
      let held = try HeldTransaction(tx, of: store)
      _ = try held.changes(mode: .commit) { try $0.insert(Artist(id: 1, name: "bad")) }
      #expect(failure { try held.judge() }?.code == .rejected)
      #expect(held.isOpen)
      _ = try held.changes(mode: .commit) { try $0.update(Artist(id: 1, name: "good")) }
      try held.judge()
    }.changes
    #expect(words(changes.changes) == ["1:  -> good"])
  }

  @Test func aTriggerThatRollsBackEndsTheTransaction() throws {
    let directory = try TemporaryDirectory()
    let path = directory.file("held.store")
    let store = try Store(at: path, models: Artist.self)
    try PlainDatabase(path).execute(
      """
      CREATE TRIGGER strict BEFORE INSERT ON Artist WHEN NEW.id = 9
      BEGIN SELECT RAISE(ROLLBACK, 'never'); END
      """)
    let error = failure {
      try store.writeReturningChanges { tx in
        let held = try HeldTransaction(tx, of: store)
        _ = try held.changes(mode: .commit) { try $0.insert(Artist(id: 1, name: "a")) }
        #expect(
          failure {
            _ = try held.changes(mode: .commit) { try $0.insert(Artist(id: 9, name: "b")) }
          }
            != nil)
        #expect(!held.isOpen)
      }
    }
    #expect(error?.code == .rejected)
    #expect(try store.count(Artist.all) == 0)
  }

  @Test func brokenReferencesAreRefusedAtCommit() throws {
    let directory = try TemporaryDirectory()
    let path = directory.file("references.db")
    try PlainDatabase(path).execute(
      """
      CREATE TABLE Person(id INTEGER PRIMARY KEY, boss INTEGER REFERENCES Person
        DEFERRABLE INITIALLY DEFERRED);
      """)
    let store = try Store(at: path)
    try store.adopt()
    let person = try store.schema.model(named: "Person")
    _ = try store.writeReturningChanges { tx in
      let held = try HeldTransaction(tx, of: store)
      _ = try held.changes(mode: .commit) {
        try $0.insert(["id": .integer(1), "boss": .integer(2)], into: person)
      }
      #expect(failure { try held.judge() }?.code == .rejected)
      _ = try held.changes(mode: .commit) { try $0.insert(["id": .integer(2)], into: person) }
      try held.judge()
    }
    #expect(try store.count(StoreQuery<DynamicRecord>(person)) == 2)
  }
}
