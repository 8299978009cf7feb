/// The way of a chain of writes that answer each other: the fields that it has passed, for those
/// who must not send a value round in a circle, and the observers whose callbacks wrote, for a
/// chain that does not end. A write that answers no callback begins a new one.
///
/// It follows the code that runs, from a callback into the writes that it makes and the tasks that
/// it starts, and with each write into the callbacks that hear of it.
struct Wave: Hashable, Sendable {
  struct Place: Hashable, Sendable {
    /// The store's number.
    let store: UInt64
    let path: ObservedPath
  }

  private var places: Set<Place> = []
  /// What the callbacks that wrote were told of, the first one first.
  private var chain: [ObservedPath] = []

  /// How many writes may answer each other. JavaScript frameworks and key-value helpers stop after
  /// 30 to 100 rounds; a chain that means to end does so long before.
  static let roundCountMax = 64

  @TaskLocal static var current = Wave()

  func hasPassed(_ place: Place) -> Bool { places.contains(place) }

  /// The same wave, arrived at `place`.
  func passing(_ place: Place) -> Wave {
    var wave = self
    wave.places.insert(place)
    return wave
  }

  /// The same wave in the callback of an observer of `path`.
  func heard(at path: ObservedPath) -> Wave {
    var wave = self
    wave.chain.append(path)
    return wave
  }

  /// The wave of two commits told as one: what either of them passed anew is news to it.
  func folded(with other: Wave) -> Wave {
    var wave = self
    wave.places.formIntersection(other.places)
    if other.chain.count > chain.count { wave.chain = other.chain }
    return wave
  }

  /// - Throws: ``StoreError`` with code `notificationCycle` when one more write would be too many.
  func checkRounds() throws(StoreError) {
    guard chain.count >= Self.roundCountMax else { return }
    let last = chain.suffix(4).map(\.description).joined(separator: " → ")
    throw StoreError(
      .notificationCycle,
      "\(Self.roundCountMax) writes answered each other, the latest in callbacks of \(last). Nothing was changed; let one of these callbacks write only when the value is not yet what it wants.",
      model: chain.last?.model)
  }
}
