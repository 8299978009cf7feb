import ModelStore

/// The record of the benchmark report's rows: four fields.
struct CountedTrack: Model, Equatable {
  var id: Int64
  var title: String
  var milliseconds: Int64
  var rating: Double

  static let definition = ModelDefinition<CountedTrack>(
    "Track", key: \.id,
    fields: [
      .init("id", \.id), .init("title", \.title), .init("milliseconds", \.milliseconds),
      .init("rating", \.rating),
    ])

  var key: Int64 { id }

  /// A track whose length is its key times a thousand.
  init(_ id: Int64, title: String = "a title of some length") {
    self.id = id
    self.title = title
    milliseconds = id * 1000
    rating = 3
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

/// A record with an ordered list.
struct CountedMix: Model {
  var id: Int64
  var tracks = OrderedList<CountedTrack>()

  static let definition = ModelDefinition<CountedMix>(
    "Mix", key: \.id, fields: [.init("id", \.id)], lists: [.init("tracks", \.tracks)])

  var key: Int64 { id }

  init(id: Int64) {
    self.id = id
  }

  init(row: borrowing RowView) throws {
    id = try row.decode(at: 0)
  }

  func encode(to arguments: inout ArgumentWriter) throws {
    try id.encode(to: &arguments, at: 0)
  }
}
