/// The record of most workloads, independent of any library. Each contender also has its own type.
struct Track: TrackRecord, Equatable {
  var id: Int64
  var title: String
  var milliseconds: Int64
  var rating: Double

  static let createTable = """
    CREATE TABLE track (
      id INTEGER PRIMARY KEY,
      title TEXT NOT NULL,
      milliseconds INTEGER NOT NULL,
      rating REAL NOT NULL
    )
    """

  static let insert = """
    INSERT INTO track (id, title, milliseconds, rating)
    VALUES (?, ?, ?, ?)
    """

  static let update = """
    UPDATE track
    SET title = ?, milliseconds = ?, rating = ?
    WHERE id = ?
    """

  static let selectAll = """
    SELECT id, title, milliseconds, rating
    FROM track
    """

  static let selectByKey = """
    SELECT id, title, milliseconds, rating
    FROM track
    WHERE id = ?
    """

  /// `count` records with ids from 1, titles of 16 to 24 letters, ratings of 0.00 to 5.00.
  static func generate(_ count: Int) -> [Track] {
    var generator = SeededGenerator(seed: 0x7_2AC5)
    return (1...count).map { id in
      Track(
        id: Int64(id),
        title: randomTitle(using: &generator),
        milliseconds: Int64.random(in: 1_000..<600_000, using: &generator),
        rating: Double(Int.random(in: 0...500, using: &generator)) / 100)
    }
  }

  static func randomTitle(using generator: inout SeededGenerator) -> String {
    let length = Int.random(in: 16...24, using: &generator)
    return String(
      decoding: (0..<length).map { _ in UInt8.random(in: 97...122, using: &generator) },
      as: UTF8.self)
  }
}

/// The fields of every contender's track, so that results can be compared across libraries.
protocol TrackRecord {
  var id: Int64 { get }
  var title: String { get }
  var milliseconds: Int64 { get }
  var rating: Double { get }
}

extension TrackRecord {
  /// Whether both records hold the same values.
  func matches(_ other: some TrackRecord) -> Bool {
    id == other.id && title == other.title && milliseconds == other.milliseconds
      && rating == other.rating
  }
}

extension Sequence where Element: TrackRecord {
  /// A number that changes when any record, field or position does.
  var digest: Int64 {
    reduce(into: 17) { sum, track in
      sum = sum &* 31 &+ track.id
      sum = sum &* 31 &+ track.milliseconds
      sum = sum &* 31 &+ Int64(bitPattern: track.rating.bitPattern)
      for byte in track.title.utf8 { sum = sum &* 31 &+ Int64(byte) }
    }
  }
}
