import Testing

@testable import ModelStore

/// What fixed declarations are compiled to. Where this fails, the compilers write other objects
/// than before: let ``CompiledForm/current`` rise, and record the new hash.
@Suite(.tags(.unit)) struct CompiledFormTests {
  /// One rule of each kind, some of which consider evicted records.
  private static let rules = [
    Rule("Child.required", of: "Child", fields: ["note"], .required),
    Rule("Child.condition", of: "Child", fields: ["value"], .condition(sql: "value < 100")),
    Rule("Child.warning", of: "Child", .condition(sql: "flag = 1"), severity: .warning),
    Rule("Child.unique", of: "Child", fields: ["note"], .unique(where: "flag = 1")),
    Rule("Child.reference", of: "Child", fields: ["place"], .reference(model: "Setting")),
    Rule("Child.immutable", of: "Child", fields: ["code"], .immutable),
    Rule("Child.count", of: "Child", .countAtMost(count: 9, per: ["parentID"])),
    Rule("Child.sum", of: "Child", fields: ["value"], .sumAtMost(limit: 9.5, per: ["parentID"])),
    Rule("Child.overlap", of: "Child", fields: ["value", "place"], .noOverlap(per: ["code"])),
  ]

  private static func objects() throws -> [SchemaObject] {
    let zoo = BindingZoo()
    let file = try SchemaTestFile(zoo.tables)
    let catalog = try file.catalog()
    let nothing = InstalledObjects([])
    let plans = [
      try CompiledBindings(BindingZoo.bindings, in: zoo.models, on: file.connect())
        .plan(from: nothing),
      try CompiledRules(rules, in: zoo.models, catalog: catalog).plan(from: nothing),
      try CompiledJournal(JournalLayouts(), of: zoo.models, in: catalog)
        .plan(recording: ["Parent": .full, "Child": .full, "Summary": .keys]),
    ]
    return plans.flatMap(\.created)
  }

  @Test func theCompiledObjectsChangeOnlyWithTheFormVersion() throws {
    let objects = try Self.objects()
    var hash = StableHash()
    for object in objects {
      hash.add(object.kind.rawValue)
      hash.add(object.name)
      hash.add(object.sql)
    }
    #expect(
      [objects.count, CompiledForm.current, Int(hash.integer)]
        == [316, 3, 7_424_071_175_722_223_714])
  }
}
