import Synchronization
import Testing

@testable import ModelStore

/// Validators, previews and refusals: what happens between a body and its COMMIT.
@Suite(.tags(.unit)) struct WriteCycleTests {
  /// A store of artists and albums, and what its observers received.
  struct Shop: Sendable {
    let directory: TemporaryDirectory
    let store: Store
    let recorder = Recorder<String>()
    private let subscription: ObservationToken

    init(
      _ validators: [Validator] = [], _ configuration: StoreConfiguration = StoreConfiguration()
    ) throws {
      directory = try TemporaryDirectory()
      store = try Store(
        at: directory.file("shop.store"), models: Artist.self, Album.self, validators: validators,
        configuration: configuration)
      try PlainDatabase(directory.file("shop.store")).execute(
        """
        INSERT INTO Artist VALUES (1, 'Miles');
        INSERT INTO Album VALUES (1, 'So What', 1, NULL), (2, 'Blue', 1, NULL);
        """)
      try store.refresh()
      subscription = try store.observe(Album.self) { [recorder] changes in
        recorder.add(
          changes.isReset ? "reset" : changes.changes.map(\.change.line).joined(separator: "; "))
      }
    }

    func contents() throws -> [[SQLValue]] {
      try PlainDatabase(store.path).rows(
        "SELECT 'Artist', * , NULL, NULL FROM Artist UNION ALL SELECT 'Album', * FROM Album")
    }

    /// The error of `body`, after checking that nothing of it was kept or reported.
    func refusal(_ body: (borrowing WriteTransaction) throws -> Void) throws -> StoreError? {
      let before = try contents()
      let error = failure { try store.write(body) }
      #expect(try contents() == before)
      store.waitForDelivery()
      #expect(recorder.taken() == [])
      return error
    }
  }

  private static let noTheft = Validator("Album.noTheft", Album.self) { change, _ in
    change.new?.title == "Stolen" ? .reject("must not be stolen", \.title) : .accept
  }
  private static let fewAlbums = Validator("Album.few", Album.self) { change, tx in
    try tx.count(Album.all) > 3 ? .reject("has too many albums beside it") : .accept
  }
  private static let realArtist = Validator("Album.realArtist", Album.self) { change, tx in
    guard change.changed(\.artistID), let id = change.new?.artistID else { return .accept }
    let artist = try tx.find(Artist.self, id)
    return artist?.name == "Nobody" ? .reject("must be somebody's", \.artistID) : .accept
  }

  @Test func allViolationsAreReportedAtOnce() throws {
    let shop = try Shop([Self.noTheft, Self.fewAlbums])
    let error = try shop.refusal { tx in
      try tx.insert(Album(id: 3, title: "Stolen"))
      try tx.insert(Album(id: 4, title: "Stolen"))
      try tx.set(\Album.title, to: "Fine", for: 1)
    }
    #expect(error?.code == .rejected)
    func violation(_ key: Int64, _ fields: [String], _ rule: String, _ message: String) -> Violation
    {
      Violation(
        kind: .validator, model: "Album", key: [.integer(key)], fields: fields, rule: rule,
        message: message)
    }
    #expect(
      error?.violations == [
        violation(3, ["title"], "Album.noTheft", "must not be stolen"),
        violation(4, ["title"], "Album.noTheft", "must not be stolen"),
        violation(3, [], "Album.few", "has too many albums beside it"),
        violation(4, [], "Album.few", "has too many albums beside it"),
        violation(1, [], "Album.few", "has too many albums beside it"),
      ])
    #expect(error?.message.contains("(and 4 more)") == true)
  }

  @Test func queriesOfAValidatorSeeTheTransactionsOwnWrites() throws {
    let shop = try Shop([Self.realArtist])
    let error = try shop.refusal { tx in
      try tx.insert(Artist(id: 2, name: "Nobody"))
      try tx.set(\Album.artistID, to: 2, for: 1)
    }
    #expect(error?.violations.map(\.rule) == ["Album.realArtist"])
    try shop.store.write { tx in
      try tx.insert(Artist(id: 2, name: "Somebody"))
      try tx.set(\Album.artistID, to: 2, for: 1)
    }
    shop.store.waitForDelivery()
    #expect(shop.recorder.taken() == ["update Album 1 (artistID: 1 → 2 user)"])
  }

  @Test func aValidatorSeesTheNetChangeOnly() throws {
    let seen = Recorder<String>()
    let watching = Validator("Album.watch", Album.self) { change, _ in
      seen.add(change.change.line)
      return .accept
    }
    let shop = try Shop([watching, Self.noTheft])
    try shop.store.write { tx in
      try tx.set(\Album.title, to: "Stolen", for: 1)
      try tx.set(\Album.title, to: "So What", for: 1)
      try tx.set(\Album.title, to: "Stolen", for: 2)
      try tx.set(\Album.title, to: "Bought", for: 2)
      try tx.insert(Album(id: 3, title: "Stolen"))
      try tx.delete(Album.self, 3)
    }
    #expect(seen.events == ["update Album 2 (title: 'Blue' → 'Bought' user)"])
  }

  @Test func anErrorThrownByAValidatorReachesTheCallerUnchanged() throws {
    struct Broken: Error, Equatable {}
    let shop = try Shop([Validator("Album.broken", Album.self) { _, _ in throw Broken() }])
    let before = try shop.contents()
    #expect(throws: Broken.self) {
      try shop.store.write { tx in try tx.set(\Album.title, to: "T", for: 1) }
    }
    #expect(try shop.contents() == before)
    try shop.store.write { tx in try tx.set(\Artist.name, to: "Not an album", for: 1) }
  }

  @Test func aValidatorCannotWrite() throws {
    let refusals = Recorder<String>()
    let held = Mutex<Store?>(nil)
    let meddling = Validator("Album.meddle", Album.self) { _, tx in
      for sql in [
        "DELETE FROM Artist", "UPDATE Album SET title = 'M' RETURNING id", "COMMIT", "ROLLBACK",
        "SAVEPOINT x", "PRAGMA user_version = 7",
      ] {
        refusals.add(
          "\(sql): \(failure { try tx.rows(SQLText(sql: sql)) }?.code.rawValue ?? "allowed")")
      }
      let store = held.withLock { $0 }
      let nested = failure { try store?.write { tx in try tx.execute("DELETE FROM Artist") } }
      refusals.add("nested: \(nested?.code.rawValue ?? "allowed")")
      return .accept
    }
    let shop = try Shop([meddling])
    held.withLock { $0 = shop.store }
    try shop.store.write { tx in try tx.set(\Album.title, to: "T", for: 1) }
    held.withLock { $0 = nil }
    #expect(
      refusals.events == [
        "DELETE FROM Artist: misuse", "UPDATE Album SET title = 'M' RETURNING id: misuse",
        "COMMIT: misuse", "ROLLBACK: misuse", "SAVEPOINT x: misuse",
        "PRAGMA user_version = 7: misuse", "nested: misuse",
      ])
    #expect(try shop.store.find(Artist.self, 1) == Artist(id: 1, name: "Miles"))
  }

  @Test func aRuleOfTheFileRefusesAtOnceAndTheTransactionContinues() throws {
    let shop = try Shop()
    try shop.store.write { tx in
      let error = failure { try tx.set(\Album.title, to: "", for: 1) }
      #expect(error?.code == .rejected)
      #expect(error?.violations.map(\.fields) == [["title"]])
      try tx.set(\Album.title, to: "Good", for: 1)
    }
    shop.store.waitForDelivery()
    #expect(shop.recorder.taken() == ["update Album 1 (title: 'So What' → 'Good' user)"])
  }

  @Test func aPreviewLeavesNothingAndReportsWhatTheCommitWould() throws {
    let shop = try Shop([Self.noTheft])
    let before = try shop.contents()
    func work(_ tx: borrowing WriteTransaction) throws {
      try tx.set(\Album.title, to: "Aura", for: 1)
      try tx.delete(Album.self, 2)
      try tx.insert(Album(id: 3, title: "Doo-Bop"))
    }
    let preview = try shop.store.preview { tx in try work(tx) }
    #expect(try shop.contents() == before)
    #expect(preview.changes.version == 0)
    shop.store.waitForDelivery()
    #expect(shop.recorder.taken() == [])
    let refused = failure {
      try shop.store.preview { tx in try tx.set(\Album.title, to: "Stolen", for: 1) }
    }
    #expect(refused?.violations.map(\.rule) == ["Album.noTheft"])
    let commit = try shop.store.writeReturningChanges { tx in try work(tx) }
    #expect(commit.changes.changes == preview.changes.changes)
    #expect(
      commit.changes.changes.map(\.line) == [
        "update Album 1 (title: 'So What' → 'Aura' user)",
        "delete Album 2 (2, 'Blue', 1, NULL) user",
        "insert Album 3 (3, 'Doo-Bop', NULL, NULL) user",
      ])
  }
}
