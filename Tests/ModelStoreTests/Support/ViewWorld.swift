@testable import ModelStore

/// A file with a view that was adopted as a model.
struct ViewWorld {
  let directory: TemporaryDirectory
  let path: String
  let store: Store

  init() throws {
    directory = try TemporaryDirectory()
    path = directory.file("view.store")
    try PlainDatabase(path).execute(
      """
      CREATE TABLE Person (id INTEGER PRIMARY KEY, name TEXT NOT NULL);
      CREATE VIEW ArtistName AS SELECT id, name FROM Person;
      """)
    store = try Store(at: path)
    try store.adopt()
  }
}

/// A Swift type over the view.
struct ArtistName: Model, Hashable {
  var id: Int64?
  var name: String?

  static let definition = ModelDefinition<ArtistName>(
    "ArtistName", key: \.id, fields: [.init("id", \.id), .init("name", \.name)])

  var key: Int64 { id ?? 0 }

  init(row: borrowing RowView) throws {
    id = try row.decode(at: 0)
    name = try row.decode(at: 1)
  }

  func encode(to arguments: inout ArgumentWriter) throws {
    try id.encode(to: &arguments, at: 0)
    try name.encode(to: &arguments, at: 1)
  }
}
