import ModelStore

/// A track as a ModelStore model, written by hand as the macro would write it.
struct StoredTrack: Model, TrackRecord {
  var id: Int64
  var title: String
  var milliseconds: Int64
  var rating: Double

  static let definition = ModelDefinition<StoredTrack>(
    "Track", table: "track", key: \.id,
    fields: [
      .init("id", \.id), .init("title", \.title), .init("milliseconds", \.milliseconds),
      .init("rating", \.rating),
    ])

  var key: Int64 { id }

  init(_ track: Track) {
    id = track.id
    title = track.title
    milliseconds = track.milliseconds
    rating = track.rating
  }

  init(row: borrowing RowView) throws {
    id = try row.decode(at: 0)
    title = try row.decode(at: 1)
    milliseconds = try row.decode(at: 2)
    rating = try row.decode(at: 3)
  }

  func encode(to arguments: inout ArgumentWriter) throws {
    try id.encode(to: &arguments, at: 0)
    try title.encode(to: &arguments, at: 1)
    try milliseconds.encode(to: &arguments, at: 2)
    try rating.encode(to: &arguments, at: 3)
  }
}
