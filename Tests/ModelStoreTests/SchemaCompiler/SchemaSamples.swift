@testable internal import ModelStore

/// Models with everything that a declaration can say.
enum SchemaSamples {
  static let album = ModelSchema(
    name: "Album",
    fields: [
      FieldSchema(name: "id", type: .integer, isRowID: true),
      FieldSchema(name: "title", type: .text, isUnique: true, collation: .nocase),
    ], key: ["id"])

  static let track = ModelSchema(
    name: "Track", table: "an \"x\" order",
    fields: [
      FieldSchema(name: "id", type: .integer, isRowID: true),
      FieldSchema(
        name: "title", column: "the title", type: .text, defaultSQL: "'it''s'",
        rules: [
          RuleSchema(
            name: "Track.title.length", message: "must have 1 to 200 characters",
            condition: "length(\"the title\") BETWEEN 1 AND 200")
        ]),
      FieldSchema(
        name: "albumID", type: .integer, isOptional: true,
        reference: ReferenceSchema(
          table: "Album", column: "id", onDelete: .cascade, onUpdate: .setNull)),
      FieldSchema(name: "isLive", type: .boolean, defaultSQL: "0"),
      FieldSchema(name: "added", type: .date, defaultSQL: "unixepoch() - 978307200"),
      FieldSchema(name: "raw", type: .any, isOptional: true, collation: .custom("my order")),
    ],
    key: ["id"], uniques: [["title", "albumID"]],
    indexes: [IndexSchema(name: "Track by age", fields: ["added", "id"])],
    rules: [RuleSchema(name: "Track.whole", message: "", condition: "isLive OR raw IS NULL")])

  static let entry = ModelSchema(
    name: "Entry",
    fields: [
      FieldSchema(
        name: "list", type: .uuid,
        reference: ReferenceSchema(table: "Playlist", onDelete: .restrict)),
      FieldSchema(
        name: "track", type: .integer, reference: ReferenceSchema(table: "an \"x\" order")),
      FieldSchema(name: "note", type: .blob, isOptional: true),
    ], key: ["list", "track"], isWithoutRowID: true)

  static let playlist = ModelSchema(
    name: "Playlist", fields: [FieldSchema(name: "id", type: .uuid)], key: ["id"])

  static let all = [album, track, entry, playlist]
}
