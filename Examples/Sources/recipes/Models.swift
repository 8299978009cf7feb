import ModelStore

struct Author: CodableModel {
  var id: Int64
  var name: String
  var bookCount = 0
  var key: Int64 { id }

  static let definition = ModelDefinition<Author>(
    "Author", key: \.id,
    fields: [
      .init("id", \.id), .init("name", \.name, rules: [.length(1...80)]),
      .init("bookCount", \.bookCount),
    ])
}

struct Book: CodableModel {
  var id: Int64
  var title: String
  var pages: Int
  var authorID: Int64
  var key: Int64 { id }

  static let definition = ModelDefinition<Book>(
    "Book", key: \.id,
    fields: [
      .init("id", \.id), .init("title", \.title), .init("pages", \.pages, rules: [.range(1...)]),
      .init("authorID", \.authorID, reference: ReferenceSchema(table: "Author")),
    ])
}
