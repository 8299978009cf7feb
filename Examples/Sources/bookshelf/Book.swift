import ModelStore

/// The one model of this program.
struct Book: Model {
  var id: Int64
  var title: String
  var pages: Int

  static let definition = ModelDefinition<Book>(
    "Book", key: \.id,
    fields: [
      .init("id", \.id), .init("title", \.title, rules: [.length(1...200)]),
      .init("pages", \.pages, rules: [.range(1...)]),
    ])

  var key: Int64 { id }

  init(id: Int64, title: String, pages: Int) {
    self.id = id
    self.title = title
    self.pages = pages
  }

  init(row: borrowing RowView) throws {
    id = try row.decode(at: 0)
    title = try row.decode(at: 1)
    pages = try row.decode(at: 2)
  }

  func encode(to arguments: inout ArgumentWriter) throws {
    try id.encode(to: &arguments, at: 0)
    try title.encode(to: &arguments, at: 1)
    try pages.encode(to: &arguments, at: 2)
  }
}
