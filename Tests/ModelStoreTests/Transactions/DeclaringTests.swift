import CFaultVFS
import CSQLite
import Testing

@testable import ModelStore

/// What a program brings to a store that may be open already.
@Suite struct DeclaringTests {
  private static func rejecting(_ name: String, _ message: String) -> Validator {
    Validator(name, Artist.self) { _, _ in .reject(message, \Artist.name) }
  }

  private static func refusal(_ store: Store) -> [String]? {
    failure { try store.write { tx in try tx.insert(Artist(id: 9, name: "x")) } }?
      .violations.map(\.message)
  }

  @Test func aValidatorOfAnUnknownModelIsRefused() throws {
    let directory = try TemporaryDirectory()
    let error = failure {
      try Store(
        at: directory.file("a.store"), models: Artist.self,
        validators: [Validator("Album.ok", Album.self) { _, _ in .accept }])
    }
    #expect(error?.code == .unknownModel)
    #expect(error?.model == "Album")
    // Nothing of the declaration stays behind.
    let store = try Store(at: directory.file("a.store"), models: Artist.self)
    #expect(try store.declaredValidators().map(\.name) == [])
  }

  @Test func aValidatorOfAViewIsRefused() throws {
    let world = try ViewWorld()
    let error = failure {
      try Store(
        at: world.path, validators: [Validator("ok", ArtistName.self) { _, _ in .accept }])
    }
    #expect(error?.code == .unsupportedSchema)
  }

  @Test func twoValidatorsOfOneNameAreRefused() throws {
    let directory = try TemporaryDirectory()
    let error = failure {
      try Store(
        at: directory.file("a.store"), models: Artist.self,
        validators: [Self.rejecting("twice", "one"), Self.rejecting("twice", "two")])
    }
    #expect(error?.code == .configurationConflict)
  }

  @Test func aLaterStoreReplacesAValidatorOfItsNameAndModel() throws {
    let directory = try TemporaryDirectory()
    let path = directory.file("a.store")
    let first = try Store(
      at: path, models: Artist.self,
      validators: [Self.rejecting("a", "one"), Self.rejecting("b", "two")])
    #expect(Self.refusal(first) == ["one", "two"])
    let second = try Store(
      at: path, models: Artist.self, validators: [Self.rejecting("a", "three")])
    #expect(Self.refusal(first) == ["three", "two"])
    #expect(Self.refusal(second) == ["three", "two"])
    let error = failure {
      try Store(
        at: path, models: Artist.self, Album.self,
        validators: [Validator("a", Album.self) { _, _ in .accept }])
    }
    #expect(error?.code == .configurationConflict)
  }

  @Test func whatOpeningWritesResetsWhoObserves() throws {
    let directory = try TemporaryDirectory()
    let path = directory.file("a.store")
    let store = try Store(at: path, models: Artist.self)
    try store.write { tx in try tx.insert(Artist(id: 1, name: "a")) }
    let live = try store.live(Artist.all)
    let resets = Recorder<Bool>()
    let subscription = live.observe { resets.add($0.isReset) }
    let second = try Store(
      at: path, models: Artist.self,
      migrations: [
        Migration(version: 1, name: "more artists", sql: "INSERT INTO \"Artist\" VALUES (2, 'b')")
      ])
    second.waitForDelivery()
    #expect(live.count == 2)
    #expect(resets.events == [true])
    subscription.cancel()
  }

  @Test func aCommitThatFailsHalfwayWhileDeclaringIsUnknownAndStopsTheWriter() throws {
    let faulty = try FaultyStore()
    let store = try faulty.open()
    try store.write { tx in try tx.insert(Artist(id: 1, name: "kept")) }
    var configuration = StoreConfiguration()
    configuration.busyTimeout = .milliseconds(50)
    configuration.fileSystem = "fault"
    let fault = fault_vfs_arm(.sync, faulty.path + "-wal", 1, ExtendedCode.ioSync, .none, .once)
    let declare = {
      try Store(
        at: faulty.path, models: Artist.self, Album.self, configuration: configuration)
    }
    #expect(failure(declare)?.code == .outcomeUnknown)
    #expect(fault_vfs_fired(fault) == 1)
    fault_vfs_disarm(fault)
    #expect(failure { try store.write { _ in } }?.code == .outcomeUnknown)
    #expect(failure(declare)?.code == .outcomeUnknown)
    store.close()
    #expect(try declare().fetch(Artist.all) == [Artist(id: 1, name: "kept")])
  }

  @Test func aRollbackThatFailsKeepsTheCauseAndStopsTheWriter() throws {
    let directory = try TemporaryDirectory()
    let path = directory.file("a.store")
    let store = try Store(at: path, models: Artist.self)
    _ = try store.core.writer.sync { writer in
      sqlite3_set_authorizer(
        writer.connection.handle,
        { _, action, verb, _, _, _ in
          let refused =
            action == SQLITE_TRANSACTION && verb.map { String(cString: $0) } == "ROLLBACK"
          return refused ? SQLITE_DENY : SQLITE_OK
        }, nil)
    }
    struct Cause: Error {}
    #expect(throws: Cause.self) {
      try store.write { tx in
        try tx.insert(Artist(id: 1, name: "a"))
        throw Cause()
      }
    }
    #expect(failure { try store.write { _ in } }?.code == .ioFailure)
    store.close()
    #expect(try Store(at: path, models: Artist.self).fetch(Artist.all) == [])
  }
}
