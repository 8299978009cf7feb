import Foundation
import Testing

@testable import ModelStore

@Suite(.tags(.unit)) struct BindingDeclarationTests {
  private struct Artist: Model {
    var id: Int64
    var name: String
    var country: String?
    var initial: String { String(name.prefix(1)) }

    static let definition = ModelDefinition<Artist>(
      "Artist", key: \.id,
      fields: [.init("id", \.id), .init("name", \.name), .init("country", \.country)])

    var key: Int64 { id }

    init(row: borrowing RowView) throws {
      id = try row.decode(at: 0)
      name = try row.decode(at: 1)
      country = try row.decode(at: 2)
    }

    func encode(to arguments: inout ArgumentWriter) throws {
      try id.encode(to: &arguments, at: 0)
      try name.encode(to: &arguments, at: 1)
      try country.encode(to: &arguments, at: 2)
    }
  }

  private struct Album: Model {
    var id: Int64
    var artistID: Int64?
    var ownerID: Int64
    var artistName: String
    var ownerName: String?
    var country: String?

    static let definition = ModelDefinition<Album>(
      "Album", key: \.id,
      fields: [
        .init("id", \.id),
        .init(
          "artistID", \.artistID, reference: ReferenceSchema(table: "Artist", onDelete: .setNull)),
        .init("ownerID", \.ownerID), .init("artistName", \.artistName, defaultSQL: "''"),
        .init("ownerName", \.ownerName), .init("country", \.country),
      ])

    var key: Int64 { id }

    init(row: borrowing RowView) throws {
      id = try row.decode(at: 0)
      artistID = try row.decode(at: 1)
      ownerID = try row.decode(at: 2)
      artistName = try row.decode(at: 3)
      ownerName = try row.decode(at: 4)
      country = try row.decode(at: 5)
    }

    func encode(to arguments: inout ArgumentWriter) throws {
      try id.encode(to: &arguments, at: 0)
      try artistID.encode(to: &arguments, at: 1)
      try ownerID.encode(to: &arguments, at: 2)
      try artistName.encode(to: &arguments, at: 3)
      try ownerName.encode(to: &arguments, at: 4)
      try country.encode(to: &arguments, at: 5)
    }
  }

  private let models = [Artist.schema, Album.schema]

  private static func copy(
    _ target: String, _ source: String, _ through: String, name: String? = nil
  ) -> BindingSchema {
    func field(_ text: String) -> BindingSchema.Field {
      let parts = text.split(separator: ".", maxSplits: 1).map(String.init)
      return .init(model: parts[0], field: parts[1])
    }
    return BindingSchema(
      name: name, target: field(target), formula: .copy(source: field(source), through: through))
  }

  @Test func keyPathsAndNamesDeclareTheSameBinding() throws {
    let typed: [FieldBinding] = [
      .copy(\Artist.name, to: \Album.artistName, through: \Album.artistID),
      .copy(\Artist.name, to: \Album.ownerName, through: \Album.ownerID),
      .copy(\Artist.country, to: \Album.country, through: \Album.artistID, name: "where"),
      .derive(\Artist.country, from: "upper(name)"),
    ]
    let named: [FieldBinding] = [
      .copy(from: "Artist.name", to: "Album.artistName", through: "Album.artistID"),
      .copy(from: "Artist.name", to: "Album.ownerName", through: "Album.ownerID"),
      .copy(from: "Artist.country", to: "Album.country", through: "Album.artistID", name: "where"),
      .derive(to: "Artist.country", from: "upper(name)"),
    ]
    let expected = [
      Self.copy("Album.artistName", "Artist.name", "artistID", name: "Album.artistName"),
      Self.copy("Album.ownerName", "Artist.name", "ownerID", name: "Album.ownerName"),
      Self.copy("Album.country", "Artist.country", "artistID", name: "where"),
      BindingSchema(
        target: .init(model: "Artist", field: "country"), formula: .derive(sql: "upper(name)")),
    ]
    #expect(try typed.map { try $0.schema(in: models) } == expected)
    #expect(try named.map { try $0.schema(in: models) } == expected)
    #expect(
      try CompiledBindings(expected, in: models).bindings.map(\.binding.name) == [
        "Album.artistName", "Album.ownerName", "Artist.country", "where",
      ])
    #expect(
      expected.map(\.description) == [
        "Album.artistName = Artist.name through Album.artistID",
        "Album.ownerName = Artist.name through Album.ownerID",
        "Album.country = Artist.country through Album.artistID", "Artist.country = upper(name)",
      ])
  }

  @Test func everyKindCanBeDeclaredByKeyPaths() throws {
    let bindings: [FieldBinding] = [
      .copy(\Artist.country, of: 1, to: \Album.country),
      .copy(
        \Artist.name, to: \Album.ownerName, matching: .equal(\Artist.id, \Album.artistID),
        as: "upper(name)", withoutSource: .keepLast),
      .copy(\Artist.name, to: \Album.ownerName, through: \Album.ownerID, as: "lower(name)"),
      .copy(\Album.country, to: \Album.ownerName),
      .aggregate(
        .count(\Artist.name), into: \Album.ownerID, of: 1, where: "name > 'a'", name: "count"),
      .aggregate(
        .joined(\Album.artistName, separator: "/", by: \Album.id), into: \Artist.country,
        through: \Album.artistID),
      .twoWay(\Album.country, \Album.ownerName, forward: "upper(country)", conflict: .abort),
      .derive(\Album.ownerName, from: "upper(artistName)").when("ownerID > 1").priority(2)
        .replacingOnlyTheNumber(),
    ]
    let schemas = try bindings.map { try $0.schema(in: models) }
    #expect(
      schemas.map(\.description) == [
        "Album.country = Artist.country of Artist 1",
        "Album.ownerName = upper(name) of Artist where Artist.id = Album.artistID, the last one kept",
        "Album.ownerName = lower(name) of Artist where Artist.id = Album.ownerID",
        "Album.ownerName = \"country\"",
        "Album.ownerID = count(Artist.name where name > 'a') in Album 1",
        "Artist.country = joined(Album.artistName by id with '/') where Album.artistID = Artist.id",
        "Album.ownerName ↔ Album.country, forward upper(country) (abort)",
        "Album.ownerName = upper(artistName), the number in the text when ownerID > 1 (priority 2)",
      ])
    for schema in schemas + BindingZoo.bindings {
      let text = try CatalogText.text(of: schema)
      #expect(try CatalogText.entry(BindingSchema.self, from: text) == schema)
      #expect(try FieldBinding(schema).schema(in: models + BindingZoo().models) == schema)
    }
  }

  @Test func severalBindingsOfAFieldNeedPrioritiesAndConditions() {
    func derive(_ name: String, _ condition: String?, _ priority: Int?) -> BindingSchema {
      BindingSchema(
        name: name, target: .init(model: "A", field: "x"), formula: .derive(sql: "y"),
        condition: condition, priority: priority)
    }
    func message(_ bindings: [BindingSchema]) -> String? {
      do {
        _ = try ResolvedBinding.inDependencyOrder(bindings, in: Self.ring)
        return nil
      } catch {
        return error.message
      }
    }
    #expect(message([derive("a", "y > 1", 2), derive("b", nil, 1)]) == nil)
    let ambiguous = """
      A.x has two bindings, a and b. Remove one, or give them conditions and different priorities.
      """
    #expect(message([derive("a", "y > 1", 1), derive("b", nil, 1)]) == ambiguous)
    #expect(message([derive("a", "y > 1", 1), derive("b", nil, nil)]) == ambiguous)
    #expect(
      message([derive("a", nil, 2), derive("b", "y > 1", 1)])
        == "b would never take effect: a binds A.x always and has the higher priority. Give it a condition."
    )
    #expect(
      message([derive("a", "x > 1", 2)])
        == "The binding a cannot be kept: its condition depends on A.x itself. Use other fields in it."
    )
  }

  @Test func schemaSurvivesItsJSON() throws {
    let schemas = [
      Self.copy("Album.artistName", "Artist.name", "artistID"),
      BindingSchema(
        name: "x", target: .init(model: "A.b", field: "c"), formula: .derive(sql: "'\"' || d")),
    ]
    let json = try JSONEncoder().encode(schemas)
    #expect(try JSONDecoder().decode([BindingSchema].self, from: json) == schemas)
  }

  @Test func namesWithDotsAreFoundAmongTheModels() throws {
    let world = BindingWorld.ugly
    let binding = FieldBinding.copy(
      from: "Sour.ce.copied", to: "Tar.get.bound", through: "Tar.get.ref", name: world.binding.name)
    #expect(try binding.schema(in: world.models) == world.binding)
  }

  @Test func unknownNamesAreRefused() {
    let refusals = [
      FieldBinding.copy(from: "Artst.name", to: "Album.artistName", through: "Album.artistID"),
      .copy(from: "Artist.nme", to: "Album.artistName", through: "Album.artistID"),
      .copy(from: "Artist.name", to: "Album.artistName", through: "Artist.id"),
      .derive(\Artist.initial, from: "name"),
      .derive(to: "Album.title", from: "1"),
    ].map { binding in
      #expect(throws: StoreError.self) { try binding.schema(in: models) }?.description
    }
    #expect(
      refusals == [
        "unknownModel: A binding names Artst.name, whose model the store does not have. Write Model.field.",
        "unknownField: A binding names Artist.nme, which is not a field of Artist. The fields are: id, name, country.",
        """
        unsupportedSchema: A binding to Album goes through Artist.id, a field of another model. \
        Name the field of Album that refers to the source.
        """,
        "unknownField: A binding names a property of Artist, of type String, that is not a stored field. Name a stored field.",
        """
        unknownField: A binding names Album.title, which is not a field of Album. \
        The fields are: id, artistID, ownerID, artistName, ownerName, country.
        """,
      ])
  }

  /// Models for refusals: every field that could go wrong.
  private static let shelf = [
    ModelSchema(
      name: "Artist",
      fields: [
        FieldSchema(name: "id", type: .integer, isRowID: true),
        FieldSchema(name: "name", type: .text),
        FieldSchema(name: "nick", type: .text, isOptional: true),
        FieldSchema(name: "born", type: .date),
        FieldSchema(name: "code", type: .text, isUnique: true),
      ], key: ["id"]),
    ModelSchema(
      name: "Album",
      fields: [
        FieldSchema(name: "id", type: .integer, isRowID: true),
        FieldSchema(
          name: "artistID", type: .integer, isOptional: true,
          reference: ReferenceSchema(table: "Artist")),
        FieldSchema(
          name: "artistCode", type: .text,
          reference: ReferenceSchema(table: "Artist", column: "code")),
        FieldSchema(name: "artistText", type: .text, isOptional: true),
        FieldSchema(name: "required", type: .text),
        FieldSchema(name: "optional", type: .text, isOptional: true),
        FieldSchema(name: "clock", type: .text, defaultSQL: "CURRENT_TIMESTAMP"),
        FieldSchema(name: "number", type: .integer, isOptional: true),
        FieldSchema(name: "made", type: .text, isOptional: true, generated: .stored),
        FieldSchema(name: "flag", type: .boolean, isOptional: true),
      ], key: ["id"]),
    ModelSchema(
      name: "Pair",
      fields: [FieldSchema(name: "a", type: .integer), FieldSchema(name: "b", type: .integer)],
      key: ["a", "b"]),
    ModelSchema(name: "Peek", kind: .view, fields: [FieldSchema(name: "x", type: .text)], key: []),
  ]

  @Test(arguments: [
    (copy("Album.id", "Artist.id", "artistID"), "Album.id is part of the key. Bind another field."),
    (
      copy("Album.made", "Artist.name", "artistID"),
      "Album.made is a generated column, which SQLite already keeps up to date. Bind another field."
    ),
    (
      copy("Album.optional", "Album.optional", "artistID"),
      "Album.optional would be copied from itself. Copy from another field."
    ),
    (
      copy("Album.optional", "Artist.name", "optional"),
      "Album.optional is its own reference. Name the field that refers to Artist."
    ),
    (
      copy("Album.required", "Artist.name", "artistID"),
      "while Album.artistID is NULL there is nothing to copy, but Album.required is not optional and has no default. Give it a default, or make it optional."
    ),
    (
      copy("Album.required", "Artist.nick", "artistCode"),
      "Artist.nick may be NULL and Album.required may not. Make Album.required optional."
    ),
    (
      copy("Album.clock", "Artist.name", "artistID"),
      "the default of Album.clock, which it holds while Album.artistID names no record, is not a literal. Make it a number, a string, a blob or NULL."
    ),
    (
      copy("Album.number", "Artist.name", "artistID"),
      "Artist.name (text) does not fit Album.number (integer). Declare them alike."
    ),
    (
      copy("Album.flag", "Artist.id", "artistID"),
      "Artist.id (integer) does not fit Album.flag (boolean). Declare them alike."
    ),
    (
      copy("Album.optional", "Artist.name", "artistText"),
      "Album.artistText (text) and Artist.id (integer) are stored differently, so equal keys may not compare equal. Declare them alike."
    ),
    (
      copy("Album.number", "Pair.a", "artistID"),
      "Album.artistID refers to the table Artist, not to Pair. Name the field that does."
    ),
    (
      copy("Album.number", "Pair.a", "number"),
      "Album.number is its own reference. Name the field that refers to Pair."
    ),
    (
      copy("Album.optional", "Pair.a", "number"),
      "Pair has a key of 2 fields, which one reference cannot name. Refer to a field of it that is unique by itself."
    ),
    (
      copy("Album.optional", "Peek.x", "number"),
      "Peek is a view, and triggers cannot detect its changes. Bind to its tables."
    ),
    (
      copy("Album.optional", "Artist.name", "artistID", name: "a\nb"),
      "its name is empty or holds a control character. Give it a printable name."
    ),
  ])
  func anUnsupportedBindingIsRefusedWithAReason(binding: BindingSchema, reason: String) {
    let error = #expect(throws: StoreError.self) { try ResolvedBinding(binding, in: Self.shelf) }
    #expect(error?.code == .unsupportedSchema)
    #expect(error?.message == "The binding \(binding.name) cannot be kept: \(reason)")
  }

  @Test(arguments: [
    copy("Album.optional", "Artist.name", "artistCode"),
    copy("Album.required", "Artist.code", "artistCode"),
    copy("Album.number", "Artist.id", "artistID"),
  ])
  func aValidBindingIsAccepted(binding: BindingSchema) throws {
    #expect(try ResolvedBinding(binding, in: Self.shelf).schema == binding)
  }

  private static let ring = ["A", "B", "C"].map { name in
    ModelSchema(
      name: name,
      fields: ["id", "x", "y"].map {
        FieldSchema(name: $0, type: .integer, isOptional: $0 != "id", isRowID: $0 == "id")
      }, key: ["id"])
  }

  @Test func theErrorListsTheBindingsOfACycle() {
    let error = #expect(throws: StoreError.self) {
      try ResolvedBinding.inDependencyOrder(
        [
          Self.copy("B.x", "A.x", "id"), Self.copy("C.x", "B.x", "id"),
          Self.copy("A.x", "C.x", "id"),
        ], in: Self.ring)
    }
    #expect(
      error?.message
        == "Bindings form a cycle: B.x → C.x → A.x → B.x. Remove one of them.")
  }

  @Test func aBoundReferenceCountsInACycle() {
    let error = #expect(throws: StoreError.self) {
      try ResolvedBinding.inDependencyOrder(
        [
          Self.copy("A.x", "B.x", "y"),
          BindingSchema(target: .init(model: "A", field: "y"), formula: .derive(sql: "X + 1")),
        ], in: Self.ring)
    }
    #expect(
      error?.message == "Bindings form a cycle: A.x → A.y → A.x. Remove one of them.")
  }

  @Test func twoBindingsOfOneFieldAndTwoOfOneNameAreRefused() {
    var alias = Self.ring[0]
    alias.name = "Alias"
    alias.table = "a"
    let twice = #expect(throws: StoreError.self) {
      try ResolvedBinding.inDependencyOrder(
        [Self.copy("A.x", "B.x", "id"), Self.copy("Alias.x", "C.x", "id", name: "other")],
        in: Self.ring + [alias])
    }
    #expect(
      twice?.message
        == "A.x has two bindings, A.x and other. Remove one, or give them conditions and different priorities."
    )
    let named = #expect(throws: StoreError.self) {
      try ResolvedBinding.inDependencyOrder(
        [Self.copy("A.x", "B.x", "id", name: "n"), Self.copy("A.y", "C.x", "id", name: "N")],
        in: Self.ring)
    }
    #expect(named?.message == "Two bindings are called N. Give one of them another name.")
  }
}
