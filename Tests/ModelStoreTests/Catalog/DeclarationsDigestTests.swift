import Testing

@testable import ModelStore

/// The number by which a file knows the declarations that it is in order for: each part of a
/// declaration counts.
@Suite(.tags(.unit)) struct DeclarationsDigestTests {
  private static let model = SchemaSamples.track

  private static func digest(of declarations: Declarations) throws -> Int64 {
    try declarations.digest(with: [])
  }

  /// Checks that `sample` and all of its variants have digests of their own.
  ///
  /// - Parameter declared: Makes declarations of a sample.
  private static func check<Sample>(
    _ sample: Sample, _ variants: [(inout Sample) -> Void],
    sourceLocation: SourceLocation = #_sourceLocation,
    declared: (Sample) -> Declarations
  ) throws {
    // A new stored property needs a variant here, and its place in the digest.
    #expect(
      Mirror(reflecting: sample).children.count == variants.count, sourceLocation: sourceLocation)
    var digests: Set<Int64> = [try digest(of: declared(sample))]
    for variant in variants {
      var changed = sample
      variant(&changed)
      digests.insert(try digest(of: declared(changed)))
    }
    #expect(digests.count == variants.count + 1, sourceLocation: sourceLocation)
  }

  @Test func eachPartOfAModelCounts() throws {
    try Self.check(
      Self.model,
      [
        { $0.name = "other" }, { $0.table = "other" }, { $0.kind = .view },
        { $0.fields.removeLast() }, { $0.key = ["title"] }, { $0.isWithoutRowID = true },
        { $0.uniques = [["title"], ["albumID"]] }, { $0.indexes = [] }, { $0.rules = [] },
        { $0.lists = [ListSchema(name: "l", elementTable: "e", slotTable: "s")] },
        { $0.isAdopted = true },
      ]
    ) { Declarations(models: [$0]) }
  }

  @Test func eachPartOfAFieldCounts() throws {
    try Self.check(
      Self.model.fields[1],
      [
        { $0.name = "other" }, { $0.column = "other" }, { $0.type = .uuid },
        { $0.form = .lowercase }, { $0.declaredType = "" }, { $0.isOptional = true },
        { $0.isUnique = true }, { $0.isRowID = true }, { $0.defaultSQL = nil },
        { $0.collation = .custom("other") }, { $0.reference = ReferenceSchema(table: "other") },
        { $0.generated = .stored }, { $0.rules = [] },
      ]
    ) { field in
      var model = Self.model
      model.fields[1] = field
      return Declarations(models: [model])
    }
  }

  @Test func eachPartOfAReferenceAnIndexAndACheckCounts() throws {
    func declared(_ change: (inout ModelSchema) -> Void) -> Declarations {
      var model = Self.model
      change(&model)
      return Declarations(models: [model])
    }
    try Self.check(
      ReferenceSchema(table: "Album", column: "id"),
      [
        { $0.table = "other" }, { $0.column = nil }, { $0.onDelete = .cascade },
        { $0.onUpdate = .cascade },
      ]
    ) { reference in declared { $0.fields[2].reference = reference } }
    try Self.check(
      IndexSchema(name: "index", fields: ["id", "title"]),
      [{ $0.name = "other" }, { $0.fields = ["title", "id"] }, { $0.isUnique = true }]
    ) { index in declared { $0.indexes = [index] } }
    try Self.check(
      RuleSchema(name: "rule", message: "message", condition: "1"),
      [{ $0.name = "other" }, { $0.message = "other" }, { $0.condition = "2" }]
    ) { rule in declared { $0.rules = [rule] } }
    try Self.check(
      ListSchema(
        name: "list", elementTable: "elements", slotTable: "slots",
        columns: .init(owner: "o", element: "e", position: "p")),
      [
        { $0.name = "other" }, { $0.elementTable = "other" }, { $0.slotTable = "other" },
        { $0.columns = nil },
      ]
    ) { list in declared { $0.lists = [list] } }
  }

  @Test func eachPartOfARuleCounts() throws {
    let rule = Rule(
      "rule", of: "Track", fields: ["title"], .condition(sql: "1"), message: "message",
      remedy: "remedy")
    try Self.check(
      rule,
      [
        { $0.name = "other" }, { $0.model = "other" }, { $0.fields = [] },
        { $0.message = "other" }, { $0.remedy = nil }, { $0.severity = .warning },
        { $0.demand = .condition(sql: "2") },
      ]
    ) { Declarations(rules: [$0]) }
    let demands: [Rule.Demand] = [
      .required, .condition(sql: "1"), .condition(sql: "2"), .unique(where: nil),
      .unique(where: "1"), .reference(model: "a"), .reference(model: "b"), .immutable,
      .countAtMost(count: 1, per: []), .countAtMost(count: 2, per: []),
      .countAtMost(count: 1, per: ["a"]), .sumAtMost(limit: 1, per: []),
      .sumAtMost(limit: 2, per: []), .sumAtMost(limit: 1, per: ["a"]), .noOverlap(per: []),
      .noOverlap(per: ["a"]),
    ]
    let digests = try demands.map { demand in
      var rule = rule
      rule.demand = demand
      return try Self.digest(of: Declarations(rules: [rule]))
    }
    #expect(Set(digests).count == demands.count)
  }

  @Test func eachPartOfABindingCounts() throws {
    try Self.check(
      BindingSchema(
        name: "binding", target: .init(model: "a", field: "b"), formula: .derive(sql: "1")),
      [
        { $0.name = "other" }, { $0.target.field = "other" }, { $0.formula = .derive(sql: "2") },
        { $0.condition = "1" }, { $0.priority = 1 }, { $0.mode = .numberInText },
        { $0.functions = ["f"] },
      ]
    ) { Declarations(bindings: [FieldBinding($0)]) }
    let source = BindingSchema.Field(model: "s", field: "f")
    let match = BindingSchema.Match(source: "x", target: "y")
    let formulas: [BindingSchema.Formula] = [
      .copy(source: source, through: "r"), .copy(source: source, through: "q"),
      .lookup(BindingSchema.Lookup(source: source, match: [match])),
      .lookup(BindingSchema.Lookup(source: source, match: [match, match])),
      .lookup(BindingSchema.Lookup(source: source, match: [], place: [.integer(1)])),
      .lookup(BindingSchema.Lookup(source: source, match: [match], transform: "t")),
      .lookup(BindingSchema.Lookup(source: source, match: [match], keepsLast: true)),
      .aggregate(BindingSchema.Aggregate(.count, model: "s", match: [match])),
      .aggregate(BindingSchema.Aggregate(.sum, model: "s", field: "f", match: [match])),
      .aggregate(BindingSchema.Aggregate(.sum, model: "s", expression: "f", match: [match])),
      .aggregate(
        BindingSchema.Aggregate(.sum, model: "s", expression: "f", scale: 2, match: [match])),
      .aggregate(BindingSchema.Aggregate(.first, model: "s", field: "f", match: [match])),
      .aggregate(
        BindingSchema.Aggregate(.first, model: "s", field: "f", order: "o", match: [match])),
      .aggregate(
        BindingSchema.Aggregate(.joined, model: "s", field: "f", separator: ",", match: [match])),
      .aggregate(BindingSchema.Aggregate(.count, model: "s", match: [match], condition: "1")),
    ]
    let digests = try formulas.map { formula in
      try Self.digest(
        of: Declarations(
          bindings: [
            FieldBinding(BindingSchema(target: .init(model: "a", field: "b"), formula: formula))
          ]))
    }
    #expect(Set(digests).count == formulas.count)
  }

  @Test func migrationsAndTheJournalCount() throws {
    let declarations: [Declarations] = [
      Declarations(), Declarations(changeJournal: .keys), Declarations(changeJournal: .full),
      Declarations(migrations: [Migration(version: 1, name: "a", sql: "SELECT 1")]),
      Declarations(migrations: [Migration(version: 2, name: "a", sql: "SELECT 1")]),
      Declarations(migrations: [Migration(version: 1, name: "b", sql: "SELECT 1")]),
      Declarations(migrations: [Migration(version: 1, name: "a", sql: "SELECT 2")]),
    ]
    #expect(Set(try declarations.map(Self.digest)).count == declarations.count)
  }
}
