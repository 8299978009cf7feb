import ModelStore

// The models of this program, written by hand. The macro of `ModelStoreMacro` writes the same.

struct Artist: Model {
  var id: Int64
  var name: String

  static let definition = ModelDefinition<Artist>(
    "Artist", key: \.id,
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

struct Track: Model {
  var id: Int64
  var title: String
  var milliseconds: Int
  var artistID: Int64
  var artistName: String

  static let definition = ModelDefinition<Track>(
    "Track", key: \.id,
    fields: [
      .init("id", \.id),
      .init("title", \.title, rules: [.length(1...200)]),
      .init("milliseconds", \.milliseconds, rules: [.range(1...)]),
      .init(
        "artistID", \.artistID, reference: ReferenceSchema(table: "Artist", onDelete: .cascade)),
      .init("artistName", \.artistName),
    ])

  var key: Int64 { id }

  init(id: Int64, title: String, milliseconds: Int, artistID: Int64, artistName: String = "") {
    self.id = id
    self.title = title
    self.milliseconds = milliseconds
    self.artistID = artistID
    self.artistName = artistName
  }

  init(row: borrowing RowView) throws {
    id = try row.decode(at: 0)
    title = try row.decode(at: 1)
    milliseconds = try row.decode(at: 2)
    artistID = try row.decode(at: 3)
    artistName = try row.decode(at: 4)
  }

  func encode(to arguments: inout ArgumentWriter) throws {
    try id.encode(to: &arguments, at: 0)
    try title.encode(to: &arguments, at: 1)
    try milliseconds.encode(to: &arguments, at: 2)
    try artistID.encode(to: &arguments, at: 3)
    try artistName.encode(to: &arguments, at: 4)
  }
}
