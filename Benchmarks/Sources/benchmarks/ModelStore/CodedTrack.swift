import ModelStore

/// A track that is read and written by its `Codable` conformance.
struct CodedTrack: CodableModel, TrackRecord {
  var id: Int64
  var title: String
  var milliseconds: Int64
  var rating: Double

  var key: Int64 { id }

  static let definition = ModelDefinition<CodedTrack>(
    "Track", table: "track", key: \.id,
    fields: [
      .init("id", \.id), .init("title", \.title), .init("milliseconds", \.milliseconds),
      .init("rating", \.rating),
    ])

  init(_ track: Track) {
    id = track.id
    title = track.title
    milliseconds = track.milliseconds
    rating = track.rating
  }
}
