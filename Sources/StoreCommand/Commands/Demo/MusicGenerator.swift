/// Generates artists, albums and tracks, the same ones every time.
struct MusicGenerator {
  private static let adjectives = [
    "Amber", "Broken", "Crimson", "Distant", "Electric", "Fading", "Golden", "Hollow", "Idle",
    "Jagged", "Kindred", "Lunar", "Midnight", "Northern", "Open", "Paper", "Quiet", "Restless",
    "Silver", "Twilight", "Velvet", "Wandering",
  ]
  private static let nouns = [
    "Anchors", "Bells", "Cities", "Dreams", "Echoes", "Ferries", "Gardens", "Harbours", "Islands",
    "Lanterns", "Meadows", "Nights", "Oceans", "Pilots", "Rivers", "Sparrows", "Tides", "Voices",
    "Windows", "Yards",
  ]

  private var state: UInt64

  init(seed: UInt64) {
    state = seed
  }

  /// The `id`th artist.
  mutating func artist(_ id: Int64) -> Artist {
    Artist(id: id, name: "The \(name())", founded: 1950 + below(50))
  }

  /// The `id`th album, by an artist.
  mutating func album(_ id: Int64, by artist: Artist) -> Album {
    Album(id: id, title: name(), year: artist.founded + 1 + below(20), artistID: artist.id)
  }

  /// The `id`th track, on an album.
  mutating func track(_ id: Int64, on album: Album) -> Track {
    Track(id: id, title: name(), seconds: 90 + below(330), albumID: album.id)
  }

  private mutating func name() -> String {
    "\(pick(Self.adjectives)) \(pick(Self.nouns))"
  }

  private mutating func pick(_ words: [String]) -> String {
    words[Int(below(Int64(words.count)))]
  }

  /// SplitMix64, whose numbers are the same on every machine.
  private mutating func below(_ bound: Int64) -> Int64 {
    state &+= 0x9E37_79B9_7F4A_7C15
    var mixed = state
    mixed = (mixed ^ (mixed >> 30)) &* 0xBF58_476D_1CE4_E5B9
    mixed = (mixed ^ (mixed >> 27)) &* 0x94D0_49BB_1331_11EB
    mixed ^= mixed >> 31
    return Int64(mixed % UInt64(bound))
  }
}
