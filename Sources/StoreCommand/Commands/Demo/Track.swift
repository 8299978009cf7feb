import ModelStore

/// A track of the demonstration.
struct Track: Model, Hashable {
  var id: Int64
  var title: String
  var seconds: Int64
  var albumID: Int64

  static let definition = ModelDefinition<Track>(
    "Track", key: \.id,
    fields: [
      .init("id", \.id),
      .init("title", \.title, rules: [.length(1...120)]),
      .init("seconds", \.seconds, rules: [.range(1...7200)]),
      .init("albumID", \.albumID, reference: ReferenceSchema(table: "Album", onDelete: .cascade)),
    ])

  var key: Int64 { id }

  init(id: Int64, title: String, seconds: Int64, albumID: Int64) {
    self.id = id
    self.title = title
    self.seconds = seconds
    self.albumID = albumID
  }

  init(row: borrowing RowView) throws {
    id = try row.decode(at: 0)
    title = try row.decode(at: 1)
    seconds = try row.decode(at: 2)
    albumID = try row.decode(at: 3)
  }

  func encode(to arguments: inout ArgumentWriter) throws {
    try id.encode(to: &arguments, at: 0)
    try title.encode(to: &arguments, at: 1)
    try seconds.encode(to: &arguments, at: 2)
    try albumID.encode(to: &arguments, at: 3)
  }
}
