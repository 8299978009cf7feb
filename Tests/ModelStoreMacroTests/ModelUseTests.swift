internal import ModelStoreMacro
internal import Testing

@testable internal import ModelStore

@Suite(.tags(.unit)) struct ModelUseTests {
  @Test func theSchemaHasEverythingThatTheStructSays() {
    #expect(
      Album.schema
        == ModelSchema(
          name: "Album", table: "albums",
          fields: [
            FieldSchema(name: "id", type: .integer, isRowID: true),
            FieldSchema(
              name: "title", column: "album_title", type: .text, defaultSQL: "''",
              collation: .nocase,
              rules: [
                RuleSchema(
                  name: "Album.title.notBlank", message: "must not be empty",
                  condition: #"trim("album_title") <> ''"#),
                RuleSchema(
                  name: "Album.title.length", message: "must have at most 200 characters",
                  condition: #"length("album_title") <= 200"#),
              ]),
            FieldSchema(
              name: "artistID", type: .integer,
              reference: ReferenceSchema(table: "Artist", onDelete: .cascade, onUpdate: .cascade)),
            FieldSchema(name: "format", type: .text),
            FieldSchema(name: "tags", type: .json),
            FieldSchema(name: "rating", type: .real, isOptional: true),
          ], key: ["id"]))
  }

  @Test func modelsMayReferToEachOther() {
    #expect(
      Artist.schema.fields.map(\.reference) + Category.schema.fields.map(\.reference)
        == [
          nil, nil, ReferenceSchema(table: "albums", onDelete: .setNull),
          nil, ReferenceSchema(table: "Category"), nil, nil, nil, nil,
        ])
  }

  @Test func aModelWrittenByHandHasItsTableName() {
    #expect(Handwritten.tableName == "by_hand")
  }

  @Test func aRecordReadsItsFieldsInOrder() throws {
    let row: [SQLValue] = [
      .integer(7), .text("Kind of Blue"), .integer(2), .text("disc"), .text(#"["jazz"]"#), .null,
    ]
    #expect(
      try Album(row: RowView(image: row))
        == Album(
          id: 7, title: "Kind of Blue", artistID: 2, format: .disc, tags: JSON(["jazz"]),
          rating: nil))
  }

  @Test func anInsertedDraftReadsBackAsItsRecord() throws {
    let draft = Album.Draft(title: "Kind of Blue", artistID: 2, rating: 4.5)
    let record = try draft.record(rowID: 7)
    #expect(
      record
        == Album(
          id: 7, title: "Kind of Blue", artistID: 2, format: .vinyl, tags: JSON([]), rating: 4.5))
    #expect(
      try encoded(draft)
        == [.null, .text("Kind of Blue"), .integer(2), .text("vinyl"), .text("[]"), .real(4.5)])
    #expect(try Album(row: RowView(image: encoded(record))) == record)
  }

  @Test func aDraftKeepsAKeyOfItsOwn() throws {
    #expect(try Album.Draft(id: 3, title: "a", artistID: 1).record(rowID: 7).key == 3)
  }

  @Test func aDraftNeedsNoInitializerOfTheStruct() throws {
    let category = try Category.Draft(default: true, isHidden: false).record(rowID: 12)
    #expect(
      try encoded(category)
        == [.integer(12), .null, .integer(1), .integer(0), .text("none"), .integer(0)])
  }

  @Test func aCompositeKeyIsAValueOfItsOwn() throws {
    let placement = Placement(albumID: 1, shelf: "A")
    #expect(placement.key == Placement.Key(albumID: 1, shelf: "A"))
    #expect(try placement.key.sqlValues() == [.integer(1), .text("A")])
    #expect(try Placement.Key(sqlValues: [.integer(1), .text("A")]) == placement.key)
    #expect(Placement.schema.key == ["albumID", "shelf"])
  }

  @Test func aCompositeKeyRefusesOtherValues() {
    #expect(throws: ColumnError(problem: .unrepresentable("the key has 2 values, not 1"))) {
      try Placement.Key(sqlValues: [.integer(1)])
    }
    #expect(
      throws: ColumnError(
        column: 0, problem: .storageClass(wanted: .integer, found: .text))
    ) {
      try Placement.Key(sqlValues: [.text("A"), .integer(1)])
    }
  }

  @Test func aModelWithAnIDIsIdentifiable() {
    func id<Element: Identifiable>(_ element: Element) -> Element.ID { element.id }
    #expect(id(Artist(id: 4, name: "Miles Davis")) == 4)
  }

  @Test func aModelMayBeHiddenInItsFile() throws {
    #expect(try Settings.roundTrip("volume", .integer(11)) == [.text("volume"), .integer(11)])
  }

  /// What `value` binds to a statement, read back from the statement's row.
  private func encoded<Value: Insertable>(_ value: Value) throws -> [SQLValue] {
    let connection = try Connection(
      path: ":memory:", role: .writer,
      policy: Connection.Policy(
        durability: .full, busyTimeout: .zero, cacheSize: 1 << 20, statementCacheCapacity: 1,
        fileSystem: nil))
    let arguments = Value.Inserted.schema.fields.map { _ in "?" }.joined(separator: ", ")
    return try connection.withStatement("SELECT \(arguments)") { statement in
      var writer = ArgumentWriter(statement: statement.handle)
      try value.encode(to: &writer)
      try statement.check(writer)
      guard try statement.step() else { return [] }
      return try RowView(statement: statement.handle).values()
    }
  }
}

private struct Handwritten: Model {
  var id: Int64

  static let definition = ModelDefinition<Handwritten>(
    "Handwritten", table: "by_hand", key: \.id, fields: [.init("id", \.id)])

  var key: Int64 { id }

  init(row: borrowing RowView) throws {
    id = try row.decode(at: 0)
  }

  func encode(to arguments: inout ArgumentWriter) throws {
    try id.encode(to: &arguments, at: 0)
  }
}
