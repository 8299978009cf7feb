import Testing

@testable import ModelStore

/// Bindings that call functions in Swift.
@Suite(.tags(.unit)) struct FunctionBindingTests {
  private static let slug = SQLFunction("slug") { values in
    guard case .text(let text) = values[0] else { return .null }
    return .text(text.lowercased().split(separator: " ").joined(separator: "-"))
  }

  private static var configuration: StoreConfiguration {
    var configuration = StoreConfiguration()
    configuration.functions = [slug]
    return configuration
  }

  private static let binding = FieldBinding.derive(\Album.artistName, from: "Slug(title)").calling(
    slug)

  private static func store(
    _ directory: TemporaryDirectory, _ bindings: [FieldBinding] = [binding],
    _ configuration: StoreConfiguration = configuration
  ) throws -> Store {
    try Store(
      at: directory.file("a.store"), models: Artist.self, Album.self, bindings: bindings,
      configuration: configuration)
  }

  private static func filled(_ directory: TemporaryDirectory) throws -> Store {
    let store = try store(directory)
    try store.write { tx in
      try tx.insert(Album(id: 1, title: "Kind of Blue"))
      try tx.insert(Album(id: 2, title: "Aura"))
    }
    return store
  }

  private static func names(_ store: Store) throws -> [String?] {
    try store.fetch(Album.all.order { $0.id }).map(\.artistName)
  }

  @Test func theFieldHoldsTheResultOfTheFunction() throws {
    let directory = try TemporaryDirectory()
    let store = try Self.filled(directory)
    #expect(try Self.names(store) == ["kind-of-blue", "aura"])
    let changes = try store.writeReturningChanges { tx in
      try tx.set(\Album.title, to: "So What", for: 1)
    }.changes.changes
    #expect(changes.flatMap(\.fields).map(\.origin) == [.user, .binding("Album.artistName")])
    #expect(try Self.names(store) == ["so-what", "aura"])
    #expect(try store.bindingFindings() == [])
    let schema = try #require(try store.bindings().first)
    #expect(schema.functions == ["slug"])
    #expect(
      schema.description
        == "Album.artistName = Slug(title), calling slug, which other programs do not have")
  }

  @Test(.enabled(if: Shell.isInstalled, Shell.reason))
  func anotherProgramsStatementFailsAndChangesNothing() throws {
    let directory = try TemporaryDirectory()
    let store = try Self.filled(directory)
    let before = try store.fetch(Album.all)
    for sql in [
      "UPDATE Album SET title = 'x'", "INSERT INTO Album (id, title) VALUES (7, 'x')",
      "UPDATE Album SET artistName = 'x' WHERE id = 1",
    ] {
      let result = try Shell.run(sql, on: directory.file("a.store"))
      #expect(result.errors.contains { $0.contains("no such function: Slug") }, "\(sql): \(result)")
    }
    #expect(try store.fetch(Album.all) == before)
    let other = try Shell.run(
      "DELETE FROM Album WHERE id = 2; SELECT title, artistName FROM Album",
      on: directory.file("a.store"))
    #expect(other.output == ["Kind of Blue|kind-of-blue"], "\(other)")
  }

  @Test func aStoreWithoutTheFunctionCanReadAndReportsWhatItCannotWrite() throws {
    let directory = try TemporaryDirectory()
    try Self.filled(directory).close()
    let store = try Self.store(directory, [], StoreConfiguration())
    #expect(try Self.names(store) == ["kind-of-blue", "aura"])
    #expect(try store.bindingFindings() == [])
    #expect(try store.lossyConversions() == [])
    #expect(try store.rebuildBindings().isEmpty)
    for write in [
      { (tx: borrowing WriteTransaction) in try tx.set(\Album.title, to: "x", for: 1) },
      { (tx: borrowing WriteTransaction) in _ = try tx.insert(Album(id: 7, title: "x")) },
    ] {
      let error = failure { try store.write { tx in try write(tx) } }
      #expect(error?.code == .unknownFunction)
      #expect(
        error?.message
          == "Nothing was changed: the binding Album.artistName calls the function slug, which this program does not have. Write with a program that has it."
      )
      #expect(error?.field == "artistName")
    }
    try store.write { tx in try tx.insert(Artist(id: 1, name: "free")) }
    #expect(try Self.names(store) == ["kind-of-blue", "aura"])
  }

  @Test func valuesMissedMeanwhileAreRepairedByAProgramThatHasTheFunction() throws {
    let directory = try TemporaryDirectory()
    try Self.filled(directory).close()
    let shell = try PlainDatabase(directory.file("a.store"))
    for row in try shell.rows("SELECT name FROM sqlite_schema WHERE name GLOB '_ms_binding_*'") {
      guard case .text(let name)? = row.first else { continue }
      try shell.execute("DROP TRIGGER \"\(name)\"")
    }
    let without = try Self.store(directory, [], StoreConfiguration())
    try without.write { tx in try tx.set(\Album.title, to: "New One", for: 1) }
    #expect(try without.bindingFindings().map(\.recordCount) == [0])
    without.close()
    let store = try Self.store(directory)
    #expect(try Self.names(store) == ["new-one", "aura"])
    #expect(try store.bindingFindings() == [])
  }

  @Test func declarationsThatCannotBeKeptAreRefused() throws {
    func message(
      _ binding: FieldBinding, _ functions: Set<SQLFunction> = [Self.slug]
    ) throws -> String? {
      var configuration = StoreConfiguration()
      configuration.functions = functions
      let directory = try TemporaryDirectory()
      return failure { _ = try Self.store(directory, [binding], configuration) }?.message
    }
    #expect(
      try message(.derive(\Album.artistName, from: "slug(title)"))?
        .contains("other writers do not have the function slug.") == true)
    #expect(
      try message(Self.binding, [])
        == "The binding Album.artistName calls the function slug, which this store does not have. Add it to StoreConfiguration.functions."
    )
    #expect(
      try message(.derive(\Album.artistName, from: "upper(title)").calling(Self.slug))?
        .contains("it does not call the function slug") == true)
    for (name, count, reason) in [
      ("upper", 1, "upper is a function of SQLite."), ("a b", 1, "needs a name of ASCII"),
      ("1a", 1, "needs a name of ASCII"), ("", 1, "needs a name of ASCII"),
      ("f", 128, "SQLite allows from 0 to 127"),
    ] {
      let function = SQLFunction(name, argumentCount: count) { _ in .null }
      #expect(try message(Self.binding, [function])?.contains(reason) == true, "\(name)")
    }
  }

  @Test func anErrorThrownByAFunctionFailsTheStatement() throws {
    struct Refusal: Error {}
    let directory = try TemporaryDirectory()
    let picky = SQLFunction("picky") { values in
      if values[0] == .text("bad") { throw Refusal() }
      return values[0]
    }
    var configuration = StoreConfiguration()
    configuration.functions = [picky]
    let store = try Self.store(
      directory, [.derive(\Album.artistName, from: "picky(title)").calling(picky)], configuration)
    try store.write { tx in try tx.insert(Album(id: 1, title: "good")) }
    let error = failure {
      try store.write { tx in try tx.set(\Album.title, to: "bad", for: 1) }
    }
    #expect(error?.message.contains("The function picky failed: Refusal()") == true, "\(error)")
    #expect(try Self.names(store) == ["good"])
  }

  /// A check that cannot be made says so; it does not take the triggers for wrong.
  @Test func anErrorThrownByAFunctionFailsTheCheck() throws {
    struct Refusal: Error {}
    let directory = try TemporaryDirectory()
    let picky = SQLFunction("picky") { values in
      if values[0] == .text("bad") { throw Refusal() }
      return values[0]
    }
    var configuration = StoreConfiguration()
    configuration.functions = [picky]
    let store = try Self.store(
      directory, [.derive(\Album.artistName, from: "picky(title)").calling(picky)], configuration)
    try store.write { tx in try tx.insert(Album(id: 1, title: "good")) }
    let other = try PlainDatabase(directory.file("a.store"))
    let triggers = try other.rows(
      "SELECT name, sql FROM sqlite_schema WHERE type = 'trigger' AND name GLOB '_ms_binding_*'"
    ).map { row -> (name: String, sql: String) in
      guard case .text(let name) = row[0], case .text(let sql) = row[1] else { return ("", "") }
      return (name, sql)
    }
    #expect(!triggers.isEmpty)
    for trigger in triggers { try other.execute("DROP TRIGGER \"\(trigger.name)\"") }
    try other.execute("UPDATE Album SET title = 'bad'")
    for trigger in triggers { try other.execute(trigger.sql) }
    let error = failure { try store.bindingFindings() }
    #expect(error?.message.contains("The function picky failed: Refusal()") == true, "\(error)")
    for trigger in triggers { try other.execute("DROP TRIGGER \"\(trigger.name)\"") }
    try other.execute("UPDATE Album SET title = 'good'")
    for trigger in triggers { try other.execute(trigger.sql) }
    #expect(try store.bindingFindings() == [])
  }

  @Test(arguments: [
    SQLValue.null, .integer(.min), .real(-0.5), .text(""), .text("a\0b"), .blob([]), .blob([0, 1]),
  ])
  func valuesPassUnchanged(value: SQLValue) throws {
    let fixture = try BindingFixture()
    let told = Recorder<SQLValue>()
    let echo = SQLFunction("echo", argumentCount: 2) { values in
      told.add(values[1])
      return values[0]
    }
    try echo.register(on: fixture.connection.handle)
    let found = try fixture.connection.firstRow(
      SQLText(sql: "SELECT echo(?, 7)", arguments: [value])
    ) { try $0.value(at: 0) }
    #expect(found == value)
    #expect(told.taken() == [.integer(7)])
  }

  @Test func storesOnOneFileAgreeOnFunctions() throws {
    let directory = try TemporaryDirectory()
    let store = try Self.filled(directory)
    let error = failure { _ = try Self.store(directory, [], StoreConfiguration()) }
    #expect(error?.code == .configurationConflict)
    let second = try Self.store(directory)
    #expect(try Self.names(second) == Self.names(store))
  }
}
