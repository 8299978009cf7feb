import Testing

@testable import ModelStore

/// What a read-only store needs of the triggers of rules and bindings.
@Suite(.tags(.unit)) struct ReadOnlyDriftTests {
  private let directory: TemporaryDirectory
  private let path: String
  private static let rule = Rule(
    "Artist.name.long", of: "Artist", fields: ["name"], .condition(sql: "length(name) > 2"))
  private static let binding = FieldBinding.copy(
    \Artist.name, to: \Album.artistName, through: \Album.artistID)

  init() throws {
    directory = try TemporaryDirectory()
    path = directory.file("shop.store")
    try open(.readWriteCreate).close()
  }

  private func open(_ access: StoreConfiguration.Access) throws -> Store {
    try Store(
      at: path, models: Artist.self, Album.self, bindings: [Self.binding], rules: [Self.rule],
      configuration: StoreConfiguration(access: access), onError: { _ in })
  }

  private func dropTriggers(_ prefix: String) throws {
    let other = try PlainDatabase(path)
    let names = try other.rows(
      "SELECT name FROM sqlite_schema WHERE type = 'trigger' AND name GLOB '\(prefix)*'")
    #expect(!names.isEmpty)
    for row in names {
      guard case .text(let name) = row[0] else { continue }
      try other.execute("DROP TRIGGER \"\(name)\"")
    }
  }

  /// A rule decides what may be written, and this store writes nothing.
  @Test func aDriftedRuleDoesNotKeepItFromReading() throws {
    try dropTriggers("_ms_rule_")
    let store = try open(.readOnly)
    #expect(try store.fetch(Artist.all) == [])
    #expect(try store.schemaDrift(of: [.rules]).map(\.owner) == [.rule(Self.rule.name)])
    store.close()
    try open(.readWrite).close()
    #expect(try open(.readOnly).schemaDrift(of: [.rules]) == [])
  }

  /// Bound fields may be out of date.
  @Test func aDriftedBindingDoes() throws {
    try dropTriggers("_ms_binding_")
    #expect(failure { _ = try open(.readOnly) }?.code == .readOnly)
    try open(.readWrite).close()
    #expect(try open(.readOnly).schemaDrift() == [])
  }

  @Test func aRuleThatTheFileHasNotYetDoes() throws {
    let other = directory.file("other.store")
    try Store(at: other, models: Artist.self, Album.self, bindings: [Self.binding]).close()
    let error = failure {
      _ = try Store(
        at: other, models: Artist.self, Album.self, bindings: [Self.binding], rules: [Self.rule],
        configuration: StoreConfiguration(access: .readOnly))
    }
    #expect(error?.code == .readOnly)
  }
}
