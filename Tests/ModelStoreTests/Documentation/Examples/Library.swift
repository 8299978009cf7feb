import ModelStore

// snippet: models-codable
struct Book: CodableModel, Hashable {
  var id: Int64
  var title: String
  var pages: Int
  var rating: Int?
  var authorID: Int64?
  var authorName: String?
  var shelfMark: String?

  var key: Int64 { id }

  static let definition = ModelDefinition<Book>(
    "Book", key: \.id,
    fields: [
      .init("id", \.id),
      .init("title", \.title, rules: [.notBlank, .length(...200)]),
      .init("pages", \.pages, rules: [.range(1...)]),
      .init("rating", \.rating, rules: [.range(1...5)]),
      .init(
        "authorID", \.authorID,
        reference: ReferenceSchema(table: Author.tableName, onDelete: .setNull)),
      .init("authorName", \.authorName),
      .init("shelfMark", \.shelfMark),
    ])
}
// end

// snippet: models-by-hand
struct Author: Model, Hashable {
  var id: Int64
  var name: String

  static let definition = ModelDefinition<Author>(
    "Author", key: \.id,
    fields: [.init("id", \.id), .init("name", \.name, rules: [.length(1...120)])])

  var key: Int64 { id }

  init(id: Int64, name: String) {
    self.id = id
    self.name = name
  }

  init(row: borrowing RowView) throws {
    id = try row.decode(at: 0)
    name = try row.decode(at: 1)
  }

  func encode(to arguments: inout ArgumentWriter) throws {
    try id.encode(to: &arguments, at: 0)
    try name.encode(to: &arguments, at: 1)
  }
}
// end

// snippet: web-encodable
extension Author: Encodable {}
// end
