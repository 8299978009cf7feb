import Testing

@testable import ModelStore

/// Opening with `.migrate`: versions of one program that meet on one file, in any order.
extension MigrateOnOpeningTests {
  /// A file that the program with `models` created.
  private func fresh(_ models: [ModelSchema]) throws -> Files {
    let files = try Files()
    let store = try open(files, models)
    try store.write { tx in
      try tx.execute("INSERT INTO List VALUES (1, 'home'), (2, 'work')")
      try tx.execute(
        "INSERT INTO Todo (id, title, list, size) VALUES (1, 'a', 1, 1), (2, 'b', 2, 2)")
    }
    store.close()
    return files
  }

  private func code(_ files: Files, _ models: [ModelSchema]) throws -> StoreError.Code? {
    do {
      try open(files, models).close()
      return nil
    } catch let error as StoreError {
      return error.code
    }
  }

  /// Whether the file is as a fresh one of the program with `models`.
  private func hasForm(of models: [ModelSchema], _ files: Files) throws -> Bool {
    let own = try Store(
      at: files.path("own"), declaring: Declarations(models: models),
      configuration: StoreConfiguration(schemaChanges: .migrate), onError: { Issue.record($0) })
    defer { own.close() }
    let store = try Store(at: files.path("a"))
    defer { store.close() }
    return try store.schemaDifferences(from: own) == []
  }

  private func rebuilds(_ files: Files) throws -> [[SQLValue]] {
    try PlainDatabase(files.path("a")).rows("PRAGMA schema_version")
  }

  static let constraints: [ModelSchema] = [
    todo { $0.rules = [RuleSchema(name: "Todo.s", message: "", condition: "size < 9")] },
    todo { $0.fields[1].isUnique = true },
    todo { $0.uniques = [["list", "title"]] },
    todo { $0.indexes = [IndexSchema(name: "u", fields: ["title"], isUnique: true)] },
    todo { $0.fields[3].reference = ReferenceSchema(table: "List", onDelete: .setNull) },
    todo { $0.fields[1].isOptional = false },
  ]

  @Test(arguments: constraints)
  func aNewerVersionGetsItsConstraintsBack(newer: ModelSchema) throws {
    let (older, newer) = (Self.models(), [Self.list, newer])
    let files = try fresh(newer)
    // The file cannot know that this version is older, so its plan is applied …
    #expect(try code(files, older) == nil)
    #expect(try hasForm(of: older, files))
    // … and does not lock out the newer one.
    #expect(try code(files, newer) == nil)
    #expect(try hasForm(of: newer, files))
    #expect(try rows(files).count == 2)
  }

  @Test(arguments: constraints)
  func aVersionThatDropsAConstraintStays(older: ModelSchema) throws {
    let (older, newer) = ([Self.list, older], Self.models())
    let files = try fresh(older)
    #expect(try code(files, newer) == nil)
    // A late process of the older version comes once, and then no more.
    #expect(try code(files, older) == nil)
    #expect(try code(files, newer) == nil)
    #expect(try hasForm(of: newer, files))
    let version = try rebuilds(files)
    for _ in 0..<2 {
      #expect(try code(files, older) == .newerFormat)
      #expect(try code(files, newer) == nil)
    }
    #expect(try rebuilds(files) == version)
  }

  @Test func recordsWithoutTheConstraintKeepItAway() throws {
    let older = Self.models { $0.fields[1].isOptional = false }
    let files = try fresh(older)
    try open(files, Self.models()).close()
    try PlainDatabase(files.path("a")).execute("UPDATE Todo SET title = NULL WHERE id = 2")
    let error = #expect(throws: StoreError.self) { try open(files, older) }
    #expect(error?.code == .schemaMismatch)
    #expect(
      error?.migrationPlan?.steps.map(\.action) == [
        .blocked(
          MigrationPlan.Obstacle(
            reason: "Records violate NOT NULL.", keys: [[.integer(2)]], count: 1))
      ])
    #expect(try code(files, Self.models()) == nil)
  }

  @Test func ofThreeVersionsNoneIsLockedOutByOneVisit() throws {
    let first = Self.models()
    let second = Self.models { $0.fields[1].isUnique = true }
    let third = Self.models {
      $0.fields[1].isUnique = true
      $0.fields[1].isOptional = false
    }
    // The newest adds: it creates the file, and each of the others comes late.
    var files = try fresh(third)
    for late in [first, second] {
      #expect(try code(files, late) == nil)
      #expect(try code(files, third) == nil)
    }
    #expect(try hasForm(of: third, files))
    try expectPeace([first, second, third], files)
    // The newest takes away: each version opens the file in turn, and the others come late.
    files = try fresh(third)
    for next in [second, first] { #expect(try code(files, next) == nil) }
    for late in [third, second] {
      #expect(try code(files, late) == nil)
      #expect(try code(files, first) == nil)
    }
    #expect(try hasForm(of: first, files))
    try expectPeace([first, second, third], files)
  }

  /// The versions do not change the file for ever.
  private func expectPeace(_ versions: [[ModelSchema]], _ files: Files) throws {
    for _ in 0..<3 { for version in versions { _ = try code(files, version) } }
    let before = try rebuilds(files)
    let codes = try versions.map { try code(files, $0) }
    #expect(codes.filter { $0 == nil }.count == 1)
    #expect(codes.filter { $0 == .newerFormat }.count == versions.count - 1)
    #expect(try rebuilds(files) == before)
  }

  @Test func addingProvesWhichVersionIsNewer() throws {
    let files = try fresh(Self.models())
    let second = Self.models { $0.fields[1].isUnique = true }
    let third = Self.models {
      $0.fields[1].isUnique = true
      $0.rules = [RuleSchema(name: "Todo.s", message: "", condition: "size < 9")]
    }
    for version in [second, third] { #expect(try code(files, version) == nil) }
    for version in [Self.models(), second] { #expect(try code(files, version) == .newerFormat) }
    #expect(try hasForm(of: third, files))
  }

  @Test func anEmptyMigrationSaysWhichVersionIsNewer() throws {
    let files = try fresh(Self.models())
    let second = Self.models { $0.fields[1].isUnique = true }
    #expect(try code(files, second) == nil)
    #expect(try code(files, Self.models()) == .newerFormat)
    // The third version goes back to the first form, and the plan is applied.
    let back = [Migration(version: 1, name: "back", sql: "")]
    try files.open("a", Self.models(), back) { $0.schemaChanges = .migrate }.close()
    #expect(try hasForm(of: Self.models(), files))
    for version in [Self.models(), second] { #expect(try code(files, version) == .newerFormat) }
    // A fresh file has the migration from the beginning.
    try files.open("b", Self.models(), back).close()
    let error = #expect(throws: StoreError.self) {
      try files.open("b", second) { $0.schemaChanges = .migrate }
    }
    #expect(error?.code == .newerFormat)
  }
}
