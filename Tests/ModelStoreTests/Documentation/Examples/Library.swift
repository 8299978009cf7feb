import ModelStore

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

struct Book: Model, Hashable {
  var id: Int64
  var title: String
  var pages: Int
  var rating: Int?
  var authorID: Int64?
  var authorName: String?
  var shelfMark: String?

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

  var key: Int64 { id }

  init(id: Int64, title: String, pages: Int, rating: Int? = nil, authorID: Int64? = nil) {
    self.id = id
    self.title = title
    self.pages = pages
    self.rating = rating
    self.authorID = authorID
  }

  init(row: borrowing RowView) throws {
    id = try row.decode(at: 0)
    title = try row.decode(at: 1)
    pages = try row.decode(at: 2)
    rating = try row.decode(at: 3)
    authorID = try row.decode(at: 4)
    authorName = try row.decode(at: 5)
    shelfMark = try row.decode(at: 6)
  }

  func encode(to arguments: inout ArgumentWriter) throws {
    try id.encode(to: &arguments, at: 0)
    try title.encode(to: &arguments, at: 1)
    try pages.encode(to: &arguments, at: 2)
    try rating.encode(to: &arguments, at: 3)
    try authorID.encode(to: &arguments, at: 4)
    try authorName.encode(to: &arguments, at: 5)
    try shelfMark.encode(to: &arguments, at: 6)
  }
}
// end

// snippet: web-encodable
extension Book: Encodable {}
// end
