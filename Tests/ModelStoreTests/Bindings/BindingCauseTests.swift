import Testing

@testable import ModelStore

@Suite(.tags(.unit)) struct BindingCauseTests {
  private static func cause(
    _ operation: RecordChange.Operation, _ model: String, _ key: Int64, _ fields: String...
  ) -> Cause {
    Cause(operation: operation, model: model, key: [.integer(key)], fields: fields)
  }

  /// `Album.artistName`, and `Album.title` from it, so that cascades have two steps.
  private static func shop() throws -> MusicShop {
    let shop = try MusicShop()
    try shop.store.add(.derive(to: "Album.title", from: "coalesce(artistName, 'none')"))
    return shop
  }

  private static func causes(
    _ shop: MusicShop, _ body: (borrowing WriteTransaction) throws -> Void
  ) throws -> [String: Cause?] {
    let changes = try shop.store.writeReturningChanges(body).changes.changes
    return Dictionary(
      uniqueKeysWithValues: changes.flatMap { change in
        change.fields.map {
          ("\(change.model) \(change.key[0]) \($0.name) \($0.origin)", $0.cause)
        }
      })
  }

  @Test func eachStepOfACascadeNamesTheWriteThatStartedIt() throws {
    let shop = try Self.shop()
    let cause = Self.cause(.update, "Artist", 1, "name")
    let found = try Self.causes(shop) { tx in try tx.set(\Artist.name, to: "Davis", for: 1) }
    #expect(
      found == [
        "Artist 1 name user": nil,
        "Album 1 artistName binding:Album.artistName": cause,
        "Album 1 title binding:Album.title": cause,
        "Album 2 artistName binding:Album.artistName": cause,
        "Album 2 title binding:Album.title": cause,
      ])
    #expect("\(cause)" == "update Artist 1 (name)")
  }

  @Test func aWriteOfTheSameRecordIsAlsoACause() throws {
    let shop = try Self.shop()
    let cause = Self.cause(.update, "Album", 3, "artistID")
    #expect(
      try Self.causes(shop) { tx in try tx.set(\Album.artistID, to: 1, for: 3) } == [
        "Album 3 artistID user": nil, "Album 3 artistName binding:Album.artistName": cause,
        "Album 3 title binding:Album.title": cause,
      ])
  }

  @Test func ofSeveralCausesTheFirstIsReported() throws {
    let shop = try Self.shop()
    let first = Self.cause(.update, "Artist", 1, "name")
    let found = try Self.causes(shop) { tx in
      try tx.set(\Artist.name, to: "A", for: 1)
      try tx.set(\Album.artistID, to: nil, for: 1)
      try tx.set(\Album.artistID, to: 1, for: 1)
      try tx.set(\Artist.name, to: "B", for: 1)
    }
    #expect(found["Album 2 artistName binding:Album.artistName"] == .some(first))
    #expect(found["Album 1 artistName binding:Album.artistName"] == .some(first))
  }

  /// A trigger before the statement's own change has no cause yet, least of all the record that an
  /// earlier statement changed.
  @Test func anEarlierStatementIsNotACause() throws {
    let shop = try MusicShop()
    try PlainDatabase(shop.store.path).execute(
      """
      CREATE TRIGGER renaming BEFORE INSERT ON Artist BEGIN
        UPDATE Album SET title = 'from the trigger' WHERE id = 3;
      END
      """)
    let found = try Self.causes(shop) { tx in
      try tx.set(\Artist.name, to: "Davis", for: 1)
      try tx.insert(Artist(id: 2, name: "Coltrane"))
    }
    #expect(found["Album 3 title trigger:renaming"] == .some(nil))
    #expect(
      found["Album 2 artistName binding:Album.artistName"]
        == .some(Self.cause(.update, "Artist", 1, "name")))
  }

  @Test func aRolledBackWriteIsNotACause() throws {
    let shop = try Self.shop()
    let found = try Self.causes(shop) { tx in
      do {
        try tx.savepoint { tx in
          try tx.set(\Artist.name, to: "gone", for: 1)
          throw StoreError(.cancelled, "no")
        }
      } catch let error as StoreError where error.code == .cancelled {}
      try tx.set(\Album.artistID, to: nil, for: 1)
    }
    #expect(
      found["Album 1 artistName binding:Album.artistName"]
        == .some(Self.cause(.update, "Album", 1, "artistID")))
  }

  @Test func deletionsAndInsertionsAreCausesWithoutFields() throws {
    let shop = try MusicShop()
    try shop.store.dropBinding("Album.artistName")
    try shop.store.add(
      FieldBinding(
        BindingSchema(
          name: "own", target: .init(model: "Album", field: "artistName"),
          formula: .lookup(
            .init(
              source: .init(model: "Artist", field: "name"),
              match: [.init(source: "id", target: "id")])))))
    let inserted = try Self.causes(shop) { tx in try tx.insert(Artist(id: 2, name: "two")) }
    #expect(inserted == ["Album 2 artistName binding:own": Self.cause(.insert, "Artist", 2)])
    let deleted = try Self.causes(shop) { tx in try tx.delete(Artist.self, 2) }
    #expect(deleted == ["Album 2 artistName binding:own": Self.cause(.delete, "Artist", 2)])
  }

  /// Artists are not observed, so their changes are not captured; the cause is still known.
  @Test func observersReceiveCausesInModelsTheyDoNotObserve() throws {
    let shop = try MusicShop()
    let told = Recorder<Cause?>()
    let field = try shop.store.observe(\Album.artistName, of: 1) { told.add($0.cause) }
    let record = try shop.store.observe(Album.self, of: 1) { told.add($0.cause) }
    try shop.setArtist("Davis")
    shop.settle()
    let cause = Self.cause(.update, "Artist", 1, "name")
    #expect(told.taken() == [cause, cause])
    try shop.setTitle("mine")
    shop.settle()
    #expect(told.taken() == [nil])
    field.cancel()
    record.cancel()
  }

  @Test func aFileWithoutTriggersReportsNoCauses() throws {
    let shop = try MusicShop()
    try shop.store.dropBinding("Album.artistName")
    let changes = try shop.store.writeReturningChanges { tx in try tx.delete(Artist.self, 1) }
      .changes
    #expect(changes.changes.map(\.cause) == changes.changes.map { _ in nil })
  }
}
