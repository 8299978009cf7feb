import ModelStore

/// A track whose model has a rule on each of its fields.
struct RuledTrack: Model {
  var track: StoredTrack

  static let definition = ModelDefinition<RuledTrack>(
    "Track", table: "track", key: \.track.id,
    fields: [
      .init("id", \.track.id), .init("title", \.track.title, rules: [.notBlank, .length(1...200)]),
      .init("milliseconds", \.track.milliseconds, rules: [.range(0...)]),
      .init("rating", \.track.rating, rules: [.range(0...5)]),
    ])

  var key: Int64 { track.id }

  init(_ track: Track) {
    self.track = StoredTrack(track)
  }

  init(row: borrowing RowView) throws {
    track = try StoredTrack(row: row)
  }

  func encode(to arguments: inout ArgumentWriter) throws {
    try track.encode(to: &arguments)
  }
}
