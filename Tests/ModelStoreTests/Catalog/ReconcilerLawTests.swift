import Testing

@testable import ModelStore

/// Whatever another program did to the objects of bindings: after reconciling there is no drift,
/// values are up to date, and reconciling again changes nothing.
@Suite(.tags(.law)) struct ReconcilerLawTests {
  private static let seeds = 0..<12

  /// What may happen to one object.
  private enum Damage: CaseIterable {
    case none, drop, edit
  }

  /// Damages the binding objects of the file.
  ///
  /// - Returns: How many were damaged.
  private static func damage(
    _ fixture: BindingFixture, _ generator: inout SeededGenerator
  ) throws -> Int {
    var count = 0
    let objects = try InstalledObjects.ofBindings(in: fixture.connection).objects
    for object in objects {
      let damage = Damage.allCases.randomElement(using: &generator) ?? .none
      guard damage != .none else { continue }
      let name = SQLText.quoted(object.name)
      count += 1
      try fixture.connection.execute("DROP \(object.kind.rawValue) \(name)")
      guard damage == .edit else { continue }
      let table = SQLText.quoted(object.table)
      switch object.kind {
      case .table: try fixture.connection.execute("CREATE TABLE \(name) (x)")
      case .index: try fixture.connection.execute("CREATE INDEX \(name) ON \(table) (id)")
      case .trigger:
        try fixture.connection.execute(
          "CREATE TRIGGER \(name) AFTER DELETE ON \(table) BEGIN SELECT 1; END")
      }
    }
    return count
  }

  @Test func aReconciledFileHasNoDriftAndIsNotChangedAgain() throws {
    let zoo = BindingZoo()
    let bindings = try CompiledBindings(BindingZoo.bindings, in: zoo.models)
    for seed in Self.seeds {
      var generator = SeededGenerator(seed: UInt64(seed))
      let fixture = try BindingFixture(zoo.tables + BindingZoo.rows)
      let connection = fixture.connection
      try fixture.install(BindingZoo.bindings, in: zoo.models)
      let count = try Self.damage(fixture, &generator)
      let plan = try bindings.plan(from: .ofBindings(in: connection))
      #expect(plan.created.count == count, "seed \(seed)")
      #expect(try !bindings.drift(in: .ofBindings(in: connection)).isEmpty, "seed \(seed)")
      _ = try connection.inTransaction { try Reconciler(connection).reconcile(bindings) }
      #expect(try bindings.drift(in: .ofBindings(in: connection)) == [], "seed \(seed)")
      #expect(try BindingZoo.mistakes(in: fixture) == [], "seed \(seed)")
      // A second time there is not one statement to run.
      #expect(try bindings.plan(from: .ofBindings(in: connection)).steps == [], "seed \(seed)")
      let version = try connection.schemaVersion()
      let changeCount = connection.totalChangeCount
      _ = try connection.inTransaction { try Reconciler(connection).reconcile(bindings) }
      #expect(try connection.schemaVersion() == version, "seed \(seed)")
      #expect(connection.totalChangeCount == changeCount, "seed \(seed)")
    }
  }
}
