/// The one-row updates of the live-query workload, the same for every contender.
///
/// In turn, an updated row keeps its position, moves, enters the query, and leaves it. The plan
/// also contains the expected result, so a contender's event can be checked.
struct UpdatePlan {
  /// The live query: the filter keeps four rows in five, the key breaks ties.
  static let select = """
    SELECT id, title, milliseconds, rating
    FROM track
    WHERE rating >= 2.5
    ORDER BY milliseconds, id
    """
  static let ratingMin = 2.5

  /// One update, and the expected result of the live query after it.
  struct Step {
    let track: Track
    let resultCount: Int

    /// Returns whether `result` is the live query's result after this update.
    func isShown(by result: some Sequence<some TrackRecord>) -> Bool {
      var count = 0
      var found = false
      for row in result {
        count += 1
        found = found || row.matches(track)
      }
      return count == resultCount && found == (track.rating >= UpdatePlan.ratingMin)
    }
  }

  /// The table before the first update.
  let start: [Track]
  private var tracks: [Track]
  private var inside: [Int] = []
  private var outside: [Int] = []
  private var generator = SeededGenerator(seed: 0x11FE)
  private var turn = 0

  /// Creates a table in which `resultCount` rows satisfy the query and a quarter as many do not.
  init(resultCount: Int) {
    tracks = Track.generate(resultCount + max(4, resultCount / 4))
    for index in tracks.indices {
      let entered = index < resultCount
      tracks[index].rating = Self.rating(inside: entered, using: &generator)
      if entered { inside.append(index) } else { outside.append(index) }
    }
    start = tracks
  }

  mutating func next() -> Step {
    let index: Int
    switch turn % 4 {
    case 0:
      index = inside.randomElement(using: &generator) ?? 0
      tracks[index].title = Track.randomTitle(using: &generator)
    case 1:
      index = inside.randomElement(using: &generator) ?? 0
      // An update to the existing value would cause no event.
      let before = tracks[index].milliseconds
      repeat {
        tracks[index].milliseconds = Int64.random(in: 1_000..<600_000, using: &generator)
      } while tracks[index].milliseconds == before
    case 2:
      index = Self.move(from: &outside, to: &inside, using: &generator)
      tracks[index].rating = Self.rating(inside: true, using: &generator)
    default:
      index = Self.move(from: &inside, to: &outside, using: &generator)
      tracks[index].rating = Self.rating(inside: false, using: &generator)
    }
    turn += 1
    return Step(track: tracks[index], resultCount: inside.count)
  }

  private static func rating(inside: Bool, using generator: inout SeededGenerator) -> Double {
    Double(Int.random(in: inside ? 250...500 : 0...249, using: &generator)) / 100
  }

  private static func move(
    from source: inout [Int], to target: inout [Int], using generator: inout SeededGenerator
  ) -> Int {
    let position = Int.random(in: source.indices, using: &generator)
    let index = source[position]
    source.swapAt(position, source.count - 1)
    source.removeLast()
    target.append(index)
    return index
  }
}
