internal import Testing

@Suite(.tags(.unit)) struct ModelExpansionTests {
  @Test func everyAttributeReachesTheDefinition() {
    expectExpansion(
      of: """
        @Model
        struct Track {
          var id: Int64
          @Column(name: "track_title", collation: .nocase, default: "''")
          @Validate(.length(1...200), .notBlank)
          var title: String
          @Unique var code: String?
          @Reference(Album.self, onDelete: .cascade) var albumID: Int64?
          var albumTitle: String = ""
        }
        """,
      #"""
      struct Track {
        var id: Int64
        var title: String
        var code: String?
        var albumID: Int64?
        var albumTitle: String = ""

        static let tableName: Swift.String = "Track"

        static let definition: ModelStore.ModelDefinition<Track> = .init(
          "Track", table: tableName, key: \Track.id,
          fields: [
            .init("id", \Track.id),
            .init("title", \Track.title, column: "track_title", defaultSQL: "''", collation: .nocase, rules: [.length(1 ... 200), .notBlank]),
            .init("code", \Track.code, isUnique: true),
            .init("albumID", \Track.albumID, reference: .init(table: Album.tableName, onDelete: .cascade)),
            .init("albumTitle", \Track.albumTitle)
          ]
        )

        var key: Int64 {
          self.id
        }

        init(
          id: Int64,
          title: String,
          code: String? = nil,
          albumID: Int64? = nil,
          albumTitle: String = ""
        ) {
          self.id = id
          self.title = title
          self.code = code
          self.albumID = albumID
          self.albumTitle = albumTitle
        }

        init(row: borrowing ModelStore.RowView) throws {
          self.id = try row.decode(at: 0)
          self.title = try row.decode(at: 1)
          self.code = try row.decode(at: 2)
          self.albumID = try row.decode(at: 3)
          self.albumTitle = try row.decode(at: 4)
        }

        private init(draft: Draft, key: Int64) {
          self.id = key
          self.title = draft.title
          self.code = draft.code
          self.albumID = draft.albumID
          self.albumTitle = draft.albumTitle
        }

        func encode(to arguments: inout ModelStore.ArgumentWriter) throws {
          try self.id.encode(to: &arguments, at: 0)
          try self.title.encode(to: &arguments, at: 1)
          try self.code.encode(to: &arguments, at: 2)
          try self.albumID.encode(to: &arguments, at: 3)
          try self.albumTitle.encode(to: &arguments, at: 4)
        }

        struct Draft: ModelStore.Insertable {
          var id: Int64?
          var title: String
          var code: String?
          var albumID: Int64?
          var albumTitle: String

          init(
            id: Int64? = nil,
            title: String,
            code: String? = nil,
            albumID: Int64? = nil,
            albumTitle: String = ""
          ) {
            self.id = id
            self.title = title
            self.code = code
            self.albumID = albumID
            self.albumTitle = albumTitle
          }

          func encode(to arguments: inout ModelStore.ArgumentWriter) throws {
            try self.id.encode(to: &arguments, at: 0)
            try self.title.encode(to: &arguments, at: 1)
            try self.code.encode(to: &arguments, at: 2)
            try self.albumID.encode(to: &arguments, at: 3)
            try self.albumTitle.encode(to: &arguments, at: 4)
          }

          func record(rowID: Swift.Int64) throws -> Track {
            Track(draft: self, key: self.id ?? rowID)
          }
        }
      }

      extension Track: ModelStore.Model, Swift.Identifiable {
      }
      """#)
  }

  @Test func aPublicModelIsPublicThroughout() {
    expectExpansion(
      of: """
        @available(macOS 26, *)
        @Model(table: "playlists")
        public struct Playlist {
          public let id: UUID
          @Ordered public var tracks: OrderedList<Music.Track>
        }
        """,
      #"""
      @available(macOS 26, *)
      public struct Playlist {
        public let id: UUID
        public var tracks: OrderedList<Music.Track>

        public static let tableName: Swift.String = "playlists"

        public static let definition: ModelStore.ModelDefinition<Playlist> = .init(
          "Playlist", table: tableName, key: \Playlist.id,
          fields: [
            .init("id", \Playlist.id)
          ],
          lists: [
            .init("tracks", \Playlist.tracks)
          ]
        )

        public var key: UUID {
          self.id
        }

        public init(
          id: UUID
        ) {
          self.id = id
          self.tracks = .init()
        }

        public init(row: borrowing ModelStore.RowView) throws {
          self.id = try row.decode(at: 0)
          self.tracks = .init()
        }

        private init(draft: Draft) {
          self.id = draft.id
          self.tracks = .init()
        }

        public func encode(to arguments: inout ModelStore.ArgumentWriter) throws {
          try self.id.encode(to: &arguments, at: 0)
        }

        public struct Draft: ModelStore.Insertable {
          public var id: UUID

          public init(
            id: UUID = UUID()
          ) {
            self.id = id
          }

          public func encode(to arguments: inout ModelStore.ArgumentWriter) throws {
            try self.id.encode(to: &arguments, at: 0)
          }

          public func record(rowID: Swift.Int64) throws -> Playlist {
            Playlist(draft: self)
          }
        }
      }

      @available(macOS 26, *)
      extension Playlist: ModelStore.Model, Swift.Identifiable {
      }
      """#)
  }

  @Test func aModelIsAsPublicAsTheExtensionAroundItSays() {
    expectExpansion(
      of: """
        public extension Catalogue {
          @Model
          struct Shelf {
            public var id: UUID
          }
        }
        """,
      #"""
      public extension Catalogue {
        struct Shelf {
          public var id: UUID

          public static let tableName: Swift.String = "Shelf"

          public static let definition: ModelStore.ModelDefinition<Shelf> = .init(
            "Shelf", table: tableName, key: \Shelf.id,
            fields: [
              .init("id", \Shelf.id)
            ]
          )

          public var key: UUID {
            self.id
          }

          public init(
            id: UUID
          ) {
            self.id = id
          }

          public init(row: borrowing ModelStore.RowView) throws {
            self.id = try row.decode(at: 0)
          }

          private init(draft: Draft) {
            self.id = draft.id
          }

          public func encode(to arguments: inout ModelStore.ArgumentWriter) throws {
            try self.id.encode(to: &arguments, at: 0)
          }

          public struct Draft: ModelStore.Insertable {
            public var id: UUID

            public init(
              id: UUID = UUID()
            ) {
              self.id = id
            }

            public func encode(to arguments: inout ModelStore.ArgumentWriter) throws {
              try self.id.encode(to: &arguments, at: 0)
            }

            public func record(rowID: Swift.Int64) throws -> Shelf {
              Shelf(draft: self)
            }
          }
        }
      }

      extension Catalogue.Shelf: ModelStore.Model, Swift.Identifiable {
      }
      """#)
  }

  @Test func severalKeysMakeACompositeKey() {
    expectExpansion(
      of: """
        @Model
        struct Entry {
          @Key var playlistID: Int64
          @Key var position: Int
          var kind: Self.Kind = Self.standard
          private var note: String?
        }
        """,
      #"""
      struct Entry {
        var playlistID: Int64
        var position: Int
        var kind: Self.Kind = Self.standard
        private var note: String?

        static let tableName: Swift.String = "Entry"

        static let definition: ModelStore.ModelDefinition<Entry> = .init(
          "Entry", table: tableName, key: \Entry.playlistID, \Entry.position,
          fields: [
            .init("playlistID", \Entry.playlistID),
            .init("position", \Entry.position),
            .init("kind", \Entry.kind),
            .init("note", \Entry.note)
          ]
        )

        var key: Key {
          Key(playlistID: self.playlistID, position: self.position)
        }

        struct Key: ModelStore.ModelKey {
          var playlistID: Int64
          var position: Int

          init(
            playlistID: Int64,
            position: Int
          ) {
            self.playlistID = playlistID
            self.position = position
          }

          init(
            sqlValues: [ModelStore.SQLValue]
          ) throws(ModelStore.ColumnError) {
            (self.playlistID, self.position) = try Self.parts(of: sqlValues, as: Int64.self, Int.self)
          }

          func sqlValues() throws(ModelStore.ColumnError) -> [ModelStore.SQLValue] {
            try [self.playlistID.sqlValue(), self.position.sqlValue()]
          }
        }

        fileprivate init(
          playlistID: Int64,
          position: Int,
          kind: Entry.Kind = Entry.standard,
          note: String? = nil
        ) {
          self.playlistID = playlistID
          self.position = position
          self.kind = kind
          self.note = note
        }

        init(row: borrowing ModelStore.RowView) throws {
          self.playlistID = try row.decode(at: 0)
          self.position = try row.decode(at: 1)
          self.kind = try row.decode(at: 2)
          self.note = try row.decode(at: 3)
        }

        private init(draft: Draft) {
          self.playlistID = draft.playlistID
          self.position = draft.position
          self.kind = draft.kind
          self.note = draft.note
        }

        func encode(to arguments: inout ModelStore.ArgumentWriter) throws {
          try self.playlistID.encode(to: &arguments, at: 0)
          try self.position.encode(to: &arguments, at: 1)
          try self.kind.encode(to: &arguments, at: 2)
          try self.note.encode(to: &arguments, at: 3)
        }

        struct Draft: ModelStore.Insertable {
          var playlistID: Int64
          var position: Int
          var kind: Entry.Kind
          fileprivate var note: String?

          fileprivate init(
            playlistID: Int64,
            position: Int,
            kind: Entry.Kind = Entry.standard,
            note: String? = nil
          ) {
            self.playlistID = playlistID
            self.position = position
            self.kind = kind
            self.note = note
          }

          func encode(to arguments: inout ModelStore.ArgumentWriter) throws {
            try self.playlistID.encode(to: &arguments, at: 0)
            try self.position.encode(to: &arguments, at: 1)
            try self.kind.encode(to: &arguments, at: 2)
            try self.note.encode(to: &arguments, at: 3)
          }

          func record(rowID: Swift.Int64) throws -> Entry {
            Entry(draft: self)
          }
        }
      }

      extension Entry: ModelStore.Model {
      }
      """#)
  }

  @Test func aStructWithAnInitializerKeepsIt() {
    expectExpansion(
      of: """
        @Model
        struct Setting {
          @Key let key: String
          var `default`: Int32
          static let limit = 3
          var isLong: Bool { key.count > Self.limit }
          init(key: String) {
            self.key = key
            `default` = 0
          }
        }
        """,
      #"""
      struct Setting {
        let key: String
        var `default`: Int32
        static let limit = 3
        var isLong: Bool { key.count > Self.limit }
        init(key: String) {
          self.key = key
          `default` = 0
        }

        static let tableName: Swift.String = "Setting"

        static let definition: ModelStore.ModelDefinition<Setting> = .init(
          "Setting", table: tableName, key: \Setting.key,
          fields: [
            .init("key", \Setting.key),
            .init("default", \Setting.`default`)
          ]
        )

        init(row: borrowing ModelStore.RowView) throws {
          self.key = try row.decode(at: 0)
          self.`default` = try row.decode(at: 1)
        }

        private init(draft: Draft) {
          self.key = draft.key
          self.`default` = draft.`default`
        }

        func encode(to arguments: inout ModelStore.ArgumentWriter) throws {
          try self.key.encode(to: &arguments, at: 0)
          try self.`default`.encode(to: &arguments, at: 1)
        }

        struct Draft: ModelStore.Insertable {
          var key: String
          var `default`: Int32

          init(
            key: String,
            `default`: Int32
          ) {
            self.key = key
            self.`default` = `default`
          }

          func encode(to arguments: inout ModelStore.ArgumentWriter) throws {
            try self.key.encode(to: &arguments, at: 0)
            try self.`default`.encode(to: &arguments, at: 1)
          }

          func record(rowID: Swift.Int64) throws -> Setting {
            Setting(draft: self)
          }
        }
      }

      extension Setting: ModelStore.Model {
      }
      """#)
  }

  @Test func anIntegerKeyOfAnotherWidthIsConvertedExactly() {
    expectExpansion(
      of: """
        @Model
        fileprivate struct Point {
          @Key var number: Int
          var x, y: Double
          var label: String = "" {
            didSet { print(label) }
          }
        }
        """,
      #"""
      fileprivate struct Point {
        var number: Int
        var x, y: Double
        var label: String = "" {
          didSet { print(label) }
        }

        static let tableName: Swift.String = "Point"

        static let definition: ModelStore.ModelDefinition<Point> = .init(
          "Point", table: tableName, key: \Point.number,
          fields: [
            .init("number", \Point.number),
            .init("x", \Point.x),
            .init("y", \Point.y),
            .init("label", \Point.label)
          ]
        )

        var key: Int {
          self.number
        }

        init(
          number: Int,
          x: Double,
          y: Double,
          label: String = ""
        ) {
          self.number = number
          self.x = x
          self.y = y
          self.label = label
        }

        init(row: borrowing ModelStore.RowView) throws {
          self.number = try row.decode(at: 0)
          self.x = try row.decode(at: 1)
          self.y = try row.decode(at: 2)
          self.label = try row.decode(at: 3)
        }

        private init(draft: Draft, key: Int) {
          self.number = key
          self.x = draft.x
          self.y = draft.y
          self.label = draft.label
        }

        func encode(to arguments: inout ModelStore.ArgumentWriter) throws {
          try self.number.encode(to: &arguments, at: 0)
          try self.x.encode(to: &arguments, at: 1)
          try self.y.encode(to: &arguments, at: 2)
          try self.label.encode(to: &arguments, at: 3)
        }

        struct Draft: ModelStore.Insertable {
          var number: Int?
          var x: Double
          var y: Double
          var label: String

          init(
            number: Int? = nil,
            x: Double,
            y: Double,
            label: String = ""
          ) {
            self.number = number
            self.x = x
            self.y = y
            self.label = label
          }

          func encode(to arguments: inout ModelStore.ArgumentWriter) throws {
            try self.number.encode(to: &arguments, at: 0)
            try self.x.encode(to: &arguments, at: 1)
            try self.y.encode(to: &arguments, at: 2)
            try self.label.encode(to: &arguments, at: 3)
          }

          func record(rowID: Swift.Int64) throws -> Point {
            try Point(draft: self, key: self.number ?? Int(sqlValue: .integer(rowID)))
          }
        }
      }

      extension Point: ModelStore.Model {
      }
      """#)
  }
}
