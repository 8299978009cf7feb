import Testing

@testable import ModelStore

/// The errors that say why records cannot be read as of a position, and what you can do.
@Suite(.tags(.unit)) struct PastRecordRefusalTests {
  private static let tables = "CREATE TABLE Item (id INTEGER PRIMARY KEY, a TEXT, n);"
  private static let enable =
    "Enable the change journal in full; then you can use positions from that moment on."

  /// The message for reading `model` as of `position`, without its first part.
  private func refusal(
    _ model: String = "Item", at position: JournalPosition, in world: JournalWorld
  ) throws -> String {
    let query = StoreQuery<DynamicRecord>(try world.store.schema.model(named: model))
    let error = failure { try world.store.fetch(query, at: position) }
    #expect(error?.code == .journalGap)
    #expect(error?.model == model)
    let message = try #require(error?.message)
    let start = "\(model) cannot be read as of position \(position.rawValue): "
    #expect(message.hasPrefix(start), "\(message)")
    return String(message.dropFirst(start.count))
  }

  @Test func aModelThatIsNotRecorded() throws {
    let world = try JournalWorld(Self.tables, detail: nil)
    let expected = "the change journal does not record Item. \(Self.enable)"
    #expect(try refusal(at: .start, in: world) == expected)
    try world.other.execute("CREATE TABLE Other (id INTEGER PRIMARY KEY)")
    try world.store.adopt(["Other"])
    try world.store.changeJournal.enable(for: ["Other"])
    #expect(try refusal(at: .start, in: world) == expected)
  }

  @Test func aModelWhoseKeysAreRecorded() throws {
    let world = try JournalWorld(Self.tables, detail: .keys)
    let start = try world.store.changeJournal.position()
    #expect(
      try refusal(at: start, in: world)
        == "the change journal records only the keys of Item. \(Self.enable)")
    try world.store.write { tx in try tx.execute("INSERT INTO Item VALUES (1, 'a', 1)") }
    try world.store.changeJournal.enable(.full)
    #expect(
      try refusal(at: start, in: world)
        == "the change journal recorded only the keys of Item for a while after it. "
        + "Use a later position.")
    let now = try world.store.changeJournal.position()
    #expect(
      try world.store.fetch(
        StoreQuery<DynamicRecord>(world.store.schema.model(named: "Item")), at: now
      ).map(\.key) == [[.integer(1)]])
  }

  @Test func aModelThatWasNotRecordedForAWhile() throws {
    let world = try JournalWorld(Self.tables)
    let start = try world.store.changeJournal.position()
    try world.store.changeJournal.disable(for: ["Item"])
    try world.store.changeJournal.enable(for: ["Item"])
    #expect(
      try refusal(at: start, in: world)
        == "the change journal did not record Item for a while after it. Use a later position.")
  }

  @Test func aModelWithADamagedTrigger() throws {
    let world = try JournalWorld(Self.tables)
    try world.other.execute("DROP TRIGGER _ms_journal_Item_update")
    #expect(
      try refusal(at: .start, in: world)
        == "triggers of the change journal on Item are missing, changed or too old. "
        + "Enable the change journal again; then you can use positions from that moment on.")
    try world.store.changeJournal.enable()
    let now = try world.store.changeJournal.position()
    let query = StoreQuery<DynamicRecord>(try world.store.schema.model(named: "Item"))
    #expect(try world.store.fetch(query, at: now) == [])
  }

  @Test func aModelFromWhichREPLACEDeletesUnseen() throws {
    let world = try JournalWorld(
      "CREATE TABLE Item (id INTEGER PRIMARY KEY, a, g AS (id > 0) UNIQUE);")
    #expect(
      try refusal(at: .start, in: world)
        == "Item has a unique index through which REPLACE may delete records that the change "
        + "journal does not see. Past records of a model with such an index cannot be read.")
  }
}
