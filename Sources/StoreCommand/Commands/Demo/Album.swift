import ModelStore

/// An album of the demonstration. Its artist's name is bound: it follows the artist.
struct Album: Model, Hashable {
  var id: Int64
  var title: String
  var year: Int64
  var artistID: Int64
  var artistName: String?

  static let definition = ModelDefinition<Album>(
    "Album", key: \.id,
    fields: [
      .init("id", \.id),
      .init("title", \.title, rules: [.length(1...120)]),
      .init("year", \.year, rules: [.range(1900...2100)]),
      .init(
        "artistID", \.artistID, reference: ReferenceSchema(table: "Artist", onDelete: .cascade)),
      .init("artistName", \.artistName),
    ])

  var key: Int64 { id }

  init(id: Int64, title: String, year: Int64, artistID: Int64) {
    self.id = id
    self.title = title
    self.year = year
    self.artistID = artistID
  }

  init(row: borrowing RowView) throws {
    id = try row.decode(at: 0)
    title = try row.decode(at: 1)
    year = try row.decode(at: 2)
    artistID = try row.decode(at: 3)
    artistName = try row.decode(at: 4)
  }

  func encode(to arguments: inout ArgumentWriter) throws {
    try id.encode(to: &arguments, at: 0)
    try title.encode(to: &arguments, at: 1)
    try year.encode(to: &arguments, at: 2)
    try artistID.encode(to: &arguments, at: 3)
    try artistName.encode(to: &arguments, at: 4)
  }
}
