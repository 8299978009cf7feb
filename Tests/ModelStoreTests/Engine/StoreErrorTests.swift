import Foundation
import Testing

@testable import ModelStore

@Suite(.tags(.unit)) struct StoreErrorTests {
  @Test func onlyALockIsWorthTheSameCallAgain() {
    #expect(
      StoreError.Code.allCases.filter { StoreError($0, "").isRetryable } == [.busy])
  }

  @Test func aTriggerThatWritesAFullTextIndexIsNamedAsTheReason() throws {
    let directory = try TemporaryDirectory()
    let path = directory.file("music.store")
    let store = try Store(at: path, models: Artist.self)
    try PlainDatabase(path).execute(
      """
      CREATE VIRTUAL TABLE Words USING fts5(name);
      CREATE TRIGGER words AFTER INSERT ON Artist
      BEGIN INSERT INTO Words (rowid, name) VALUES (NEW.id, NEW.name); END;
      """)
    let error = failure { try store.write { tx in try tx.insert(Artist(id: 1, name: "a")) } }
    #expect(error?.code == .unsupportedSchema)
    #expect(
      error?.message == """
        A trigger or view of the file uses a virtual table, and SQLite \
        \(Connection.libraryVersion) does not trust it there (unsafe use of virtual table \
        "Words"). Drop that trigger or view. To keep a full-text index up to date, write it in \
        your own transactions.
        """)
  }

  @Test func aDamagedFullTextIndexIsNotADamagedDatabase() throws {
    let directory = try TemporaryDirectory()
    let path = directory.file("music.store")
    let store = try Store(at: path, models: Artist.self)
    try PlainDatabase(path).execute(
      """
      CREATE VIRTUAL TABLE Words USING fts5(name);
      INSERT INTO Words VALUES ('a');
      DELETE FROM Words_data WHERE id > 10;
      """)
    let search: SQLText = "SELECT rowid FROM Words WHERE Words MATCH 'a'"
    let error = failure { try store.read { tx in try tx.rows(search) } }
    #expect(error?.code == .corrupt)
    #expect(error?.message.contains("Rebuild a full-text index t with INSERT INTO t (t)") == true)
    try store.write { tx in try tx.execute("INSERT INTO Words (Words) VALUES ('rebuild')") }
    #expect(try store.read { tx in try tx.rows(search).count } == 1)
  }

  @Test func theMessageIsTheLocalizedDescription() {
    let error = StoreError(.recordNotFound, "There is no Artist with the key 7.", model: "Artist")
    #expect(error.localizedDescription == "There is no Artist with the key 7.")
    let hidden: any Error = error
    #expect(hidden.localizedDescription == "There is no Artist with the key 7.")
  }

  @Test func aLockedFileIsNamed() throws {
    let directory = try TemporaryDirectory()
    let store = try Store(
      at: directory.file("music.store"), models: Artist.self,
      configuration: StoreConfiguration(busyTimeout: .zero))
    let other = try PlainDatabase(store.path)
    try other.execute("BEGIN IMMEDIATE")
    let error = failure { try store.write { tx in try tx.insert(Artist(id: 1, name: "a")) } }
    #expect(error?.code == .busy)
    #expect(
      error?.message
        == "Another connection holds the file \(store.path) locked; nothing was changed. Try again."
    )
    try other.execute("ROLLBACK")
  }

  @Test func aBusyErrorSaysHowLongTheWriteWaited() throws {
    let directory = try TemporaryDirectory()
    let store = try Store(
      at: directory.file("music.store"), models: Artist.self,
      configuration: StoreConfiguration(busyTimeout: .milliseconds(30)))
    let other = try PlainDatabase(store.path)
    try other.execute("BEGIN IMMEDIATE")
    let error = failure { try store.write { tx in try tx.insert(Artist(id: 1, name: "a")) } }
    try other.execute("ROLLBACK")
    let message = try #require(error?.message)
    let parts = message.split(separator: "waited ")
    #expect(parts.first == "Another connection holds the file \(store.path) locked, and the write ")
    let wait = try #require(parts.last?.prefix { $0.isNumber || $0 == "." })
    let number = try #require(Double(wait))
    #expect(number >= (message.contains(" ms ") ? 30 : 1))
    #expect(message.hasSuffix("s for the write lock; nothing was changed. Try again."))
  }

  @Test func aDamagedFileIsNamed() throws {
    let directory = try TemporaryDirectory()
    let path = directory.file("music.store")
    try Store(at: path, models: Artist.self).close()
    try PlainDatabase(path).execute("UPDATE _ms_models SET definition = '{'")
    let error = failure { try Store(at: path, models: Artist.self) }
    #expect(error?.code == .corrupt)
    #expect(
      error?.message == """
        \(path): The entry of the model Artist in _ms_models is not JSON. The file was damaged or \
        edited by hand. Restore a backup; nothing was changed.
        """)
  }

  private static func violation(_ field: String, key: Int64 = 1) -> Violation {
    Violation(
      kind: .check, model: "Artist", key: [.integer(key)], fields: [field],
      rule: "Artist.\(field).range", message: "must be positive")
  }

  @Test func theDescriptionListsEveryReasonOnce() {
    let error = StoreError(
      rejecting: [Self.violation("a"), Self.violation("b"), Self.violation("b", key: 2)], count: 3)
    let text = """
      Nothing was changed: Artist.a must be positive (rule Artist.a.range) (and 2 more). Also: \
      Artist.b must be positive (rule Artist.b.range).
      """
    #expect(error.description == "rejected: \(text)")
    #expect(error.localizedDescription == text)
  }

  @Test func oneReasonOfManyRecordsIsTheMessageAlone() {
    let error = StoreError(
      rejecting: [Self.violation("a"), Self.violation("a", key: 2)], count: 9)
    #expect(error.description == "rejected: \(error.message)")
  }

  @Test func manyReasonsAreCut() {
    let error = StoreError(rejecting: (1...40).map { Self.violation("f\($0)") }, count: 40)
    let also = (2...10).map { "Artist.f\($0) must be positive (rule Artist.f\($0).range)" }
    #expect(
      error.description
        == "rejected: \(error.message) Also: \(also.joined(separator: "; ")); and more.")
  }

  @Test func aConflictNamesNoRule() {
    let violation = Violation(
      kind: .conflict, model: "Artist", key: [.integer(1)], fields: ["name"], rule: "unchanged",
      message: "changed since")
    #expect(
      StoreError(rejecting: [violation], count: 1).message
        == "Nothing was changed: Artist.name changed since.")
  }
}
