import Synchronization
import Testing

@testable import ModelStore

/// Writes that wait at the same time share a COMMIT, and are still writes of their own.
@Suite(.tags(.unit), .timeLimit(.minutes(30))) struct SharedCommitTests {
  typealias Body = @Sendable (borrowing WriteTransaction) throws -> Void

  struct Odd: Error, Equatable {}

  private let directory: TemporaryDirectory
  private let store: Store

  /// The validator sees the state of its own write.
  private static let fewArtists = Validator("Artist.few", Artist.self) { _, tx in
    try tx.count(Artist.all) > 4 ? .reject("has too many beside it", \.name) : .accept
  }

  init() throws {
    directory = try TemporaryDirectory()
    var configuration = StoreConfiguration()
    configuration.changeJournal = .full
    store = try Store(
      at: directory.file("a.store"), models: Artist.self, Album.self, configuration: configuration)
  }

  private static func insert(_ id: Int64, _ name: String = "a") -> Body {
    { tx in try tx.insert(Artist(id: id, name: name)) }
  }

  /// A word for each outcome.
  private static func words(_ errors: [(any Error)?]) -> [String] {
    errors.map { error in
      switch error {
      case nil: "kept"
      case let error as StoreError:
        error.violations.first.map { "\(error.code.rawValue) \($0.rule)" } ?? error.code.rawValue
      case let error?: "\(error)"
      }
    }
  }

  private func ids() throws -> [Int64] { try store.fetch(Artist.all).map(\.id) }

  // The shared COMMIT

  @Test func waitingWritesHaveOneCommit() async throws {
    let log = try StatementLog(store)
    let errors = await HeldWriter.run(on: store, (1...64).map { Self.insert($0) })
    let statements = log.taken()
    try log.stop()
    #expect(Self.words(errors) == Array(repeating: "kept", count: 64))
    #expect(statements.count { $0 == "BEGIN IMMEDIATE" } == 1)
    #expect(statements.count { $0 == "SAVEPOINT share" } == 64)
    #expect(statements.count { $0 == "RELEASE share" } == 64)
    #expect(statements.count { $0 == "COMMIT" } == 1)
    #expect(try ids() == Array(1...64))
  }

  @Test func moreThan64WritesHaveFurtherCommits() async throws {
    let log = try StatementLog(store)
    _ = await HeldWriter.run(on: store, (1...130).map { Self.insert($0) })
    #expect(log.takenCount(of: "COMMIT") == 3)
    try log.stop()
    #expect(try ids() == Array(1...130))
  }

  /// Nothing that makes a shared COMMIT possible may cost a write that shares none.
  @Test func aLoneWriteRunsTheStatementsOfASynchronousOne() async throws {
    let store = store
    func write(_ id: Int64) throws { try store.write(Self.insert(id)) }
    try write(1)
    let log = try StatementLog(store)
    try write(2)
    let synchronous = log.taken()
    try await store.write(Self.insert(3))
    let asynchronous = log.taken()
    try await store.writeAlone(Self.insert(4))
    let alone = log.taken()
    try log.stop()
    #expect(synchronous.contains("COMMIT"))
    #expect(asynchronous == synchronous)
    #expect(alone == synchronous)
  }

  @Test func aWriteAloneSharesNoCommit() async throws {
    let log = try StatementLog(store)
    let held = await HeldWriter(store)
    let tasks = [await held.add(Self.insert(1)), await held.add(Self.insert(2))]
    async let alone: Void = store.writeAlone { tx in
      let count = try tx.count(Artist.all)
      try tx.insert(Artist(id: 9, name: "\(count)"))
    }
    held.release()
    for task in tasks { try await task.value }
    try await alone
    #expect(log.takenCount(of: "COMMIT") == 2)
    try log.stop()
    #expect(try ids() == [1, 2, 9])
  }

  @Test func bodiesRunInTheOrderOfCallsAndSeeTheWritesBefore() async throws {
    let seen = Recorder<Int>()
    _ = await HeldWriter.run(
      on: store,
      (1...5).map { id in
        { tx in
          seen.add(try tx.count(Artist.all))
          try tx.insert(Artist(id: Int64(id), name: "a"))
        }
      })
    #expect(seen.events == [0, 1, 2, 3, 4])
  }

  @Test func aTransactionThatLastsTooLongTakesNoFurtherWrite() async throws {
    let log = try StatementLog(store)
    let held = await HeldWriter(store)
    store.engine.line.setDurationMax(.zero)
    let tasks = [await held.add(Self.insert(1)), await held.add(Self.insert(2))]
    held.release()
    for task in tasks { try await task.value }
    #expect(log.takenCount(of: "COMMIT") == 2)
    try log.stop()
  }

  // Refusals

  @Test func aRefusedWriteIsUndoneAlone() async throws {
    let refusing = try await Store(
      at: directory.file("b.store"), models: Artist.self, Album.self,
      validators: [Self.fewArtists])
    let events = Recorder<String>()
    let token = try refusing.observe(Artist.self) { changes in
      events.add("\(changes.version) " + changes.changes.map(\.change.line).joined())
    }
    let first = refusing.engine.broker.version
    let bodies: [Body] = [
      Self.insert(1),
      { tx in
        try tx.insert(Artist(id: 2, name: "b"))
        throw Odd()
      },
      { tx in
        try tx.insert(Artist(id: 2, name: "c"))
        try tx.insert(Artist(id: 1, name: "taken"))
      },
      Self.insert(2, ""), Self.insert(2, "d"),
      { tx in for id in 3...5 { try tx.insert(Artist(id: Int64(id), name: "e")) } },
      { tx in for id in 3...4 { try tx.insert(Artist(id: Int64(id), name: "f")) } },
      Self.insert(5),
      { tx in
        try tx.delete(Artist.self, 1)
        try tx.insert(Artist(id: 5, name: "g"))
      },
    ]
    let errors = await HeldWriter.run(on: refusing, bodies)
    await refusing.waitForDelivery()
    token.cancel()
    #expect(
      Self.words(errors) == [
        "kept", "Odd()", "rejected Artist.key", "rejected Artist.name.length", "kept",
        "rejected Artist.few", "kept", "rejected Artist.few", "kept",
      ])
    #expect(try await refusing.fetch(Artist.all).map(\.name) == ["d", "f", "f", "g"])
    #expect(
      events.events == [
        "\(first + 1) insert Artist 1 (1, 'a') user",
        "\(first + 2) insert Artist 2 (2, 'd') user",
        "\(first + 3) insert Artist 3 (3, 'f') userinsert Artist 4 (4, 'f') user",
        "\(first + 4) delete Artist 1 (1, 'a') userinsert Artist 5 (5, 'g') user",
      ])
  }

  /// The error of a write does not depend on what it shares its COMMIT with.
  @Test func aRefusedWriteThrowsTheErrorThatItWouldThrowAlone() async throws {
    try await store.write(Self.insert(1))
    let bodies: [Body] = [
      Self.insert(1), Self.insert(2, ""), { tx in try tx.execute("SELECT nonsense") },
      { tx in try tx.execute("COMMIT") }, { tx in try tx.execute("SAVEPOINT share") },
      { tx in
        try tx.deferReferenceChecks()
        try tx.insert(Album(id: 1, title: "t", artistID: 77))
      },
    ]
    var alone: [StoreError?] = []
    for body in bodies {
      alone.append(await #expect(throws: StoreError.self) { try await store.writeAlone(body) })
    }
    let together = await HeldWriter.run(on: store, bodies)
    #expect(together.map { $0 as? StoreError } == alone)
    #expect(try ids() == [1])
  }

  @Test func aBrokenReferenceRefusesTheWriteThatLeavesIt() async throws {
    let bodies: [Body] = [
      { tx in
        try tx.deferReferenceChecks()
        try tx.insert(Album(id: 1, title: "late", artistID: 1))
        try tx.insert(Artist(id: 1, name: "a"))
      },
      { tx in
        try tx.deferReferenceChecks()
        try tx.insert(Album(id: 2, title: "broken", artistID: 2))
      },
      // The artist that is missing above does not repair it, and nothing is deferred any more.
      { tx in
        try tx.insert(Artist(id: 2, name: "b"))
        let error = failure { try tx.insert(Album(id: 3, title: "t", artistID: 9)) }
        #expect(error?.code == .rejected)
      },
      { tx in
        try tx.execute("PRAGMA defer_foreign_keys = ON")
        throw Odd()
      },
      { tx in try tx.insert(Album(id: 4, title: "t", artistID: 9)) },
      { tx in try tx.insert(Album(id: 5, title: "t", artistID: 2)) },
    ]
    let errors = await HeldWriter.run(on: store, bodies)
    #expect(errors.map { ($0 as? StoreError)?.code } == [nil, .rejected, nil, nil, .rejected, nil])
    #expect((errors[1] as? StoreError)?.violations.map(\.key) == [[.integer(2)]])
    #expect(try await store.fetch(Album.all).map(\.id) == [1, 5])
    #expect(try await store.checkIntegrity() == [])
  }

  /// SQLite ends the pragma only with the transaction, and the store asks for it only if a text may
  /// have set it.
  @Test(arguments: [
    "PRAGMA defer_foreign_keys = ON", "/* a */ pragma main.\"Defer_Foreign_Keys\"(yes)",
    "EXPLAIN PRAGMA [DEFER_FOREIGN_KEYS] = 1", "PRAGMA `defer_foreign_keys`='true'",
  ])
  func deferredReferencesAreCheckedAtOnceByTheNextWrite(text: String) async throws {
    let deferring: Body = { tx in
      try tx.execute(SQLText(sql: text))
      try tx.insert(Album(id: 1, title: "late", artistID: 1))
      try tx.insert(Artist(id: 1, name: "a"))
    }
    let broken: Body = { tx in
      let error = failure { try tx.insert(Album(id: 2, title: "t", artistID: 9)) }
      #expect(error?.code == .rejected)
    }
    let log = try StatementLog(store)
    let errors = await HeldWriter.run(on: store, [deferring, broken, broken])
    try log.stop()
    #expect(errors.allSatisfy { $0 == nil })
    #expect(log.takenCount(of: "COMMIT") == 1)
    #expect(try await store.fetch(Album.all).map(\.id) == [1])
  }

  @Test func savepointsOfABodyKeepWorking() async throws {
    let errors = await HeldWriter.run(
      on: store,
      [
        Self.insert(1),
        { tx in
          try tx.insert(Artist(id: 2, name: "b"))
          do {
            try tx.savepoint { tx in
              try tx.delete(Artist.self, 1)
              try tx.insert(Artist(id: 3, name: "c"))
              throw Odd()
            }
          } catch is Odd {}
          _ = try tx.savepoint { tx in try tx.insert(Artist(id: 4, name: "d")) }
        },
      ])
    #expect(Self.words(errors) == ["kept", "kept"])
    #expect(try ids() == [1, 2, 4])
  }

  // The journal

  @Test func eachWriteIsATransactionOfTheJournal() async throws {
    let ids = Recorder<TransactionID>()
    func signed(_ id: Int64, _ author: String) -> Body {
      { tx in
        tx.sign(author: author)
        try tx.insert(Artist(id: id, name: author))
        ids.add(tx.id)
      }
    }
    let bodies: [Body] = [
      signed(1, "ann"),
      { tx in
        try tx.insert(Artist(id: 2, name: "lost"))
        throw Odd()
      }, { _ in }, signed(2, "bob"),
    ]
    _ = await HeldWriter.run(on: store, bodies)
    // The first says that the journal began.
    let transactions = Array(try await store.changeJournal.transactions().dropFirst())
    #expect(transactions.map(\.author) == ["ann", "bob"])
    #expect(transactions.map(\.id) == ids.events)
    #expect(transactions.map { $0.changes.map(\.key) } == [[[.integer(1)]], [[.integer(2)]]])
    #expect(transactions[0].positions.upperBound < transactions[1].positions.lowerBound)
    #expect(try await store.changeJournal.position() == transactions[1].positions.upperBound)
    // Taking one back leaves the other.
    try await store.undo()
    #expect(try self.ids() == [1])
  }
}
