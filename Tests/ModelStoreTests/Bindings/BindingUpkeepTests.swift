import Testing

@testable import ModelStore

@Suite(.tags(.unit)) struct BindingUpkeepTests {
  private static let name = "Album.artistName"

  /// How bindings go wrong: another program has no triggers, or edits them.
  private static func spoil(_ shop: MusicShop) throws {
    let shell = try PlainDatabase(shop.directory.file("shop.store"))
    let triggers = try shell.rows(
      "SELECT name FROM sqlite_schema WHERE type = 'trigger' AND name LIKE '%artistName%update'"
    ).map { row in
      guard case .text(let name)? = row.first else { return "" }
      return name
    }
    #expect(triggers.count == 2)
    for trigger in triggers { try shell.execute("DROP TRIGGER \"\(trigger)\"") }
    try shell.execute("UPDATE Artist SET name = 'Changed' WHERE id = 1")
    try shell.execute("UPDATE Album SET artistName = 'Nobody' WHERE id = 3")
  }

  private static func names(in shop: MusicShop) throws -> [String?] {
    try shop.store.fetch(Album.all.order { $0.id }).map(\.artistName)
  }

  @Test func wrongValuesAreRepairedAndReported() throws {
    let shop = try MusicShop()
    try Self.spoil(shop)
    try shop.store.refresh()
    let subscription = try shop.store.observe(Album.self) { event in
      for change in event.changes.map(\.change) {
        shop.told.add("\(change.key) \(change.fields.map { "\($0.old) → \($0.new)" })")
      }
    }
    #expect(try shop.store.bindingFindings().map(\.recordCount) == [3])
    let mended = try shop.store.rebuildBindings()
    #expect(mended.map(\.binding) == [Self.name])
    #expect(mended.map(\.recordCount) == [3])
    #expect(try shop.store.bindingFindings() == [])
    #expect(try Self.names(in: shop) == ["Changed", "Changed", nil])
    func change(_ key: Int64, _ old: SQLValue, _ new: SQLValue) -> String {
      "\([SQLValue.integer(key)]) \(["\(old) → \(new)"])"
    }
    #expect(
      shop.news() == [
        change(1, .text("Miles"), .text("Changed")), change(2, .text("Miles"), .text("Changed")),
        change(3, .text("Nobody"), .null),
      ])
    // The triggers are there again, for every writer.
    try PlainDatabase(shop.directory.file("shop.store"))
      .execute("UPDATE Artist SET name = 'Again' WHERE id = 1")
    #expect(try Self.names(in: shop) == ["Again", "Again", nil])
    #expect(try shop.store.rebuildBindings().isEmpty)
    subscription.cancel()
  }

  @Test func aFieldCanBeWrittenAfterItsBindingIsDropped() throws {
    let shop = try MusicShop()
    try shop.store.dropBinding(Self.name)
    #expect(try shop.store.bindings() == [])
    try shop.setArtist("Other")
    #expect(try Self.names(in: shop) == ["Miles", "Miles", nil])
    try shop.store.write { tx in try tx.set(\Album.artistName, to: "free", for: 1) }
    #expect(try Self.names(in: shop) == ["free", "Miles", nil])
    let missing = failure { try shop.store.dropBinding(Self.name) }
    #expect(missing?.code == .unknownBinding)
    #expect(missing?.message == "There is no binding Album.artistName in this store.")
    // A program that declares the binding gets it back, with its values.
    let again = try Store(
      at: shop.directory.file("shop.store"), models: Artist.self, Album.self,
      bindings: [.copy(\Artist.name, to: \Album.artistName, through: \Album.artistID)],
      configuration: StoreConfiguration())
    #expect(
      try again.fetch(Album.all.order { $0.id }).map(\.artistName) == ["Other", "Other", nil])
  }

  /// The bound field's column could not be dropped while the triggers named it.
  @Test func aBoundColumnCanBeDroppedAfterItsBinding() throws {
    let shop = try MusicShop()
    try shop.store.dropBinding(Self.name)
    let shell = try PlainDatabase(shop.directory.file("shop.store"))
    try shell.execute("ALTER TABLE Album DROP COLUMN artistName")
    try shop.setArtist("still written")
    #expect(try shop.store.find(Artist.self, 1)?.name == "still written")
  }

  @Test func aReadOnlyStoreDropsAndRepairsNothing() throws {
    let shop = try MusicShop()
    shop.store.close()
    var configuration = StoreConfiguration()
    configuration.access = .readOnly
    let store = try Store(
      at: shop.directory.file("shop.store"), models: Artist.self, Album.self,
      configuration: configuration)
    #expect(failure { try store.dropBinding(Self.name) }?.code == .readOnly)
    #expect(failure { try store.rebuildBindings() }?.code == .readOnly)
    #expect(try store.bindings().map(\.name) == [Self.name])
  }

  /// A shop whose binding keeps tables and an index of its own.
  private static func shopWithAMinimum() throws -> MusicShop {
    let shop = try MusicShop()
    try shop.store.dropBinding(name)
    try shop.store.add(
      FieldBinding(
        BindingSchema(
          target: .init(model: "Album", field: "artistName"),
          formula: .aggregate(
            .init(.minimum, model: "Artist", field: "name", match: [], place: [.integer(1)])))))
    return shop
  }

  /// Values that need helper tables cannot be compared without them; they are repaired like all
  /// others.
  @Test func validatorsCheckRepairedRecordsEvenWhereTablesAreMissing() throws {
    let shop = try Self.shopWithAMinimum()
    let strict = Validator("Album.free", Album.self) { change, _ in
      change.new?.artistName == "Miles" ? .reject("must not be Miles", \.artistName) : .accept
    }
    let store = try Store(
      at: shop.directory.file("shop.store"), models: Artist.self, Album.self,
      validators: [strict])
    let shell = try PlainDatabase(shop.directory.file("shop.store"))
    let objects = try shell.rows(
      """
      SELECT 'DROP ' || type || ' "' || name || '"' FROM sqlite_schema
      WHERE name LIKE '\\_ms\\_binding\\_%' ESCAPE '\\' ORDER BY type DESC
      """)
    #expect(objects.count > 5)
    for row in objects {
      guard case .text(let sql)? = row.first else { continue }
      // An index goes along with its table.
      try shell.execute(sql.replacing("DROP index", with: "DROP index IF EXISTS"))
    }
    try shell.execute("UPDATE Album SET artistName = 'Nobody' WHERE id = 1")
    let findings = try store.bindingFindings()
    #expect(findings.map(\.isCompared) == [false])
    #expect(findings.map(\.recordCount) == [0])
    for rebuild in [store.previewBindingsRebuild, store.rebuildBindings] {
      let error = failure { _ = try rebuild() }
      #expect(error?.code == .rejected)
      #expect(error?.violations.map(\.rule) == ["Album.free"])
    }
    #expect(try Self.names(in: shop) == ["Nobody", "Miles", nil])
    try shell.execute("UPDATE Artist SET name = 'Ada'")
    #expect(try store.previewBindingsRebuild().map(\.recordCount) == [1])
    #expect(try Self.names(in: shop) == ["Nobody", "Miles", nil])
    #expect(try store.rebuildBindings().map(\.recordCount) == [1])
    #expect(try store.bindingFindings() == [])
    #expect(try Self.names(in: shop) == ["Ada", "Miles", nil])
  }

  @Test func valuesAreComparedWhereOnlyAnIndexIsMissing() throws {
    let shop = try Self.shopWithAMinimum()
    let store = try Store(
      at: shop.directory.file("shop.store"), models: Artist.self, Album.self)
    let shell = try PlainDatabase(shop.directory.file("shop.store"))
    let index = "_ms_binding_\(Self.name)_order"
    let trigger = "_ms_binding_\(Self.name)_target_update"
    try shell.execute("DROP INDEX \"\(index)\"")
    try shell.execute("DROP TRIGGER \"\(trigger)\"")
    try shell.execute("UPDATE Album SET artistName = 'Nobody' WHERE id = 1")
    #expect(
      try store.bindingFindings() == [
        BindingFinding(
          binding: Self.name,
          drift: SchemaDrift(
            .binding(Self.name),
            [.init(.index, index, .missing), .init(.trigger, trigger, .missing)]),
          recordCount: 1, keys: [[.integer(1)]])
      ])
    #expect(try store.rebuildBindings().map(\.recordCount) == [1])
    #expect(try store.bindingFindings() == [])
  }

  /// An end of a two-way binding follows nothing else, so a program that declares a binding of
  /// either end takes it over.
  @Test(arguments: ["title", "artistName"])
  func aDeclaredBindingTakesOverFromATwoWayOne(field: String) throws {
    let shop = try MusicShop()
    try shop.store.dropBinding(Self.name)
    try shop.store.add(
      FieldBinding(
        BindingSchema(
          name: "pair", target: .init(model: "Album", field: "artistName"),
          formula: .twoWay(
            .init(
              left: .init(model: "Album", field: "title"), match: [], forward: "title",
              backward: "coalesce(artistName, 'none')")))))
    let store = try Store(
      at: shop.directory.file("shop.store"), models: Artist.self, Album.self,
      bindings: [.derive(to: "Album.\(field)", from: "'no ' || id")])
    #expect(try store.bindings().map(\.name) == ["Album.\(field)"])
    let (title, artist) = try #require(
      try store.find(Album.self, 2).map { ($0.title, $0.artistName) })
    #expect(title == (field == "title" ? "no 2" : "two"))
    #expect(artist == (field == "title" ? "two" : "no 2"))
  }
}
