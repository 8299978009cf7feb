import GRDB

/// A track as in GRDB's guide: `Codable`, without code written by hand.
struct CodableTrack: Codable, FetchableRecord, PersistableRecord, TrackRecord {
  static let databaseTableName = "track"

  var id: Int64
  var title: String
  var milliseconds: Int64
  var rating: Double

  init(_ track: Track) {
    id = track.id
    title = track.title
    milliseconds = track.milliseconds
    rating = track.rating
  }
}

/// A track as GRDB's guide advises for speed: columns by position, containers filled by hand.
struct PositionalTrack: FetchableRecord, PersistableRecord, TrackRecord {
  static let databaseTableName = "track"
  static var databaseSelection: [any SQLSelectable] {
    [Column("id"), Column("title"), Column("milliseconds"), Column("rating")]
  }

  var id: Int64
  var title: String
  var milliseconds: Int64
  var rating: Double

  init(_ track: Track) {
    id = track.id
    title = track.title
    milliseconds = track.milliseconds
    rating = track.rating
  }

  init(row: Row) {
    id = row[0]
    title = row[1]
    milliseconds = row[2]
    rating = row[3]
  }

  func encode(to container: inout PersistenceContainer) {
    container["id"] = id
    container["title"] = title
    container["milliseconds"] = milliseconds
    container["rating"] = rating
  }
}

/// Ten integers as a `Codable` record.
struct CodableItem: Codable, FetchableRecord, TableRecord, TenIntegersRecord {
  static let databaseTableName = "item"

  var i0, i1, i2, i3, i4, i5, i6, i7, i8, i9: Int64
}

/// Ten integers read by position.
struct PositionalItem: FetchableRecord, TableRecord, TenIntegersRecord {
  static let databaseTableName = "item"
  static var databaseSelection: [any SQLSelectable] {
    (0..<10).map { Column("i\($0)") }
  }

  var i0, i1, i2, i3, i4, i5, i6, i7, i8, i9: Int64

  init(row: Row) {
    i0 = row[0]
    i1 = row[1]
    i2 = row[2]
    i3 = row[3]
    i4 = row[4]
    i5 = row[5]
    i6 = row[6]
    i7 = row[7]
    i8 = row[8]
    i9 = row[9]
  }
}
