import Foundation
import ModelStore

/// The record of the workloads of the command line: eight fields, two of them long texts.
struct Song: Model {
  var id: Int64
  var title: String
  var artist: String
  var composer: String
  var milliseconds: Int64
  var bytes: Int64
  var price: Double
  var released: String

  static let definition = ModelDefinition<Song>(
    "Song", key: \.id,
    fields: [
      .init("id", \.id), .init("title", \.title), .init("artist", \.artist),
      .init("composer", \.composer), .init("milliseconds", \.milliseconds), .init("bytes", \.bytes),
      .init("price", \.price), .init("released", \.released),
    ])

  static let fieldNames = [
    "id", "title", "artist", "composer", "milliseconds", "bytes", "price", "released",
  ]

  var key: Int64 { id }

  init(id: Int64, using generator: inout SeededGenerator) {
    self.id = id
    title = Track.randomTitle(using: &generator)
    // One cell in eight must be quoted in CSV.
    artist = Track.randomTitle(using: &generator) + (id.isMultiple(of: 4) ? ", jr." : "")
    composer = "\(id.isMultiple(of: 8) ? "\"Mac\" " : "")\(Track.randomTitle(using: &generator))"
    milliseconds = Int64.random(in: 1_000..<600_000, using: &generator)
    bytes = Int64.random(in: 100_000..<20_000_000, using: &generator)
    // Quarters are exact, so every program reads the same number.
    price = Double(Int.random(in: 1...40, using: &generator)) / 4
    let day = Int.random(in: 1...28, using: &generator)
    released = "20\(10 + day % 10)-0\(1 + day % 9)-\(day < 10 ? "0" : "")\(day)"
  }

  init(row: borrowing RowView) throws {
    id = try row.decode(at: 0)
    title = try row.decode(at: 1)
    artist = try row.decode(at: 2)
    composer = try row.decode(at: 3)
    milliseconds = try row.decode(at: 4)
    bytes = try row.decode(at: 5)
    price = try row.decode(at: 6)
    released = try row.decode(at: 7)
  }

  func encode(to arguments: inout ArgumentWriter) throws {
    try id.encode(to: &arguments, at: 0)
    try title.encode(to: &arguments, at: 1)
    try artist.encode(to: &arguments, at: 2)
    try composer.encode(to: &arguments, at: 3)
    try milliseconds.encode(to: &arguments, at: 4)
    try bytes.encode(to: &arguments, at: 5)
    try price.encode(to: &arguments, at: 6)
    try released.encode(to: &arguments, at: 7)
  }

  static func generate(_ count: Int) -> [Song] {
    var generator = SeededGenerator(seed: 0x50_4E65)
    return (1...count).map { Song(id: Int64($0), using: &generator) }
  }
}

/// A text format of the imported files.
enum SongFormat: String {
  case csv
  case ndjson

  /// Writes `songs` to the file at `path`.
  func write(_ songs: [Song], to path: String) throws {
    var text = self == .csv ? Song.fieldNames.joined(separator: ",") + "\n" : ""
    for song in songs { text += line(song) }
    try Data(text.utf8).write(to: URL(filePath: path))
  }

  private func line(_ song: Song) -> String {
    switch self {
    case .csv:
      let texts = [song.title, song.artist, song.composer].map(cell).joined(separator: ",")
      return
        "\(song.id),\(texts),\(song.milliseconds),\(song.bytes),\(song.price),\(song.released)\n"
    case .ndjson:
      let texts = [song.title, song.artist, song.composer].map {
        "\"\($0.replacing("\"", with: "\\\""))\""
      }
      return """
        {"id":\(song.id),"title":\(texts[0]),"artist":\(texts[1]),"composer":\(texts[2]),\
        "milliseconds":\(song.milliseconds),"bytes":\(song.bytes),"price":\(song.price),\
        "released":"\(song.released)"}\n
        """
    }
  }

  private func cell(_ text: String) -> String {
    text.contains { $0 == "," || $0 == "\"" }
      ? "\"\(text.replacing("\"", with: "\"\""))\"" : text
  }
}
