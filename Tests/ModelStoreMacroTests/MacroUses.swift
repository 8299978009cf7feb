internal import Foundation
public import ModelStoreMacro

/// Models that must compile, each with what the others lack.

@Model
struct Artist {
  var id: Int64
  @Validate(.length(1...120)) @Unique var name: String
  @Reference(Album.self, onDelete: .setNull) var bestAlbumID: Int64?
}

@Model(table: "albums")
struct Album: Hashable {
  enum Format: String, ColumnValue {
    case vinyl, disc, download
  }

  var id: Int64
  @Column(name: "album_title", collation: .nocase, default: "''")
  @Validate(.notBlank)
  @Validate(.length(...200))
  var title: String
  @Reference(Artist.self, onDelete: .cascade, onUpdate: .cascade) var artistID: Int64
  var format: Format = Self.usualFormat
  var tags: JSON<[String]> = JSON([])
  var rating: Double?

  static let usualFormat = Format.vinyl
  var isRated: Bool { rating != nil }
}

@Model
struct Category {
  @Key let code: Int
  @Reference(Category.self) var parentCode: Int?
  var `default`, isHidden: Bool
  var label: String = "none" {
    didSet { changes += 1 }
  }
  var changes: Int = 0

  init(code: Int) {
    self.code = code
    `default` = false
    isHidden = false
  }
}

@Model
struct Placement {
  @Key var albumID: Int64
  @Key var shelf: String
  @Validate(.range(1...)) var position: Int = 1
}

@Model
struct Playlist {
  var id: UUID
  @Unique var name: String
  @Ordered var albums: OrderedList<Album>
}

enum Settings {
  @Model
  fileprivate struct Setting {
    @Key var key: String
    fileprivate var value: SQLValue
  }

  static func roundTrip(_ key: String, _ value: SQLValue) throws -> [SQLValue] {
    let setting = Setting(key: key, value: value)
    return [try setting.key.sqlValue(), try setting.value.sqlValue()]
  }
}

@Model
private struct Secret {
  var id: Int64
  private var word: String = ""
}

/// Its `id` is too hidden for a public conformance to `Identifiable`.
@Model
public struct Reading {
  var id: Int64
  public var celsius: Double
  var unit: Unit = .kelvin

  enum Unit: Int, ColumnValue {
    case kelvin
  }
}

/// A property may have the name of what the macro makes.
@Model
struct Word {
  @Key var text: String
  var definition: String
}

/// A part of the key may be of a type that is less visible than the model.
@Model
public struct Score {
  enum Round: Int, ColumnValue {
    case first, second
  }

  @Key var round: Round
  @Key public var player: Int64
  public var points: Int
}

public enum Catalogue {}

extension Catalogue {
  @Model
  public struct Item {
    var id: Int64
    var name: String = ""
  }
}
