/// A cascade of writes, each made by a callback of the one before.
///
/// It records the fields that a value has passed, so that bindings do not send it in a circle. It
/// also records the observers whose callbacks wrote, to stop a cascade that does not end. A write
/// outside any callback starts a new cascade.
///
/// It is a task-local value: it follows a callback into its writes and the tasks that it starts,
/// and each write into the callbacks that it notifies.
struct Wave: Hashable, Sendable {
  struct Place: Hashable, Sendable {
    /// The number of the store's scope.
    let store: UInt64
    let path: ObservedPath
  }

  private var places: Set<Place> = []
  /// The paths observed by the callbacks that wrote, first one first.
  private var chain: [ObservedPath] = []

  /// The most chained writes. JavaScript frameworks and key-value helpers stop after 30 to 100
  /// rounds; a cascade that converges needs far fewer.
  static let roundCountMax = 64

  @TaskLocal static var current = Wave()

  /// Runs `body` as a part of `wave`.
  static func running<Result>(in wave: Wave, _ body: () throws -> Result) rethrows -> Result {
    // Nearly always the cascade is the current one, and setting a task-local value takes longer
    // than comparing it.
    try wave == current ? body() : $current.withValue(wave, operation: body)
  }

  func hasPassed(_ place: Place) -> Bool { places.contains(place) }

  /// Returns this cascade extended by the field at `place`.
  func passing(_ place: Place) -> Wave {
    var wave = self
    wave.places.insert(place)
    return wave
  }

  /// Returns this cascade inside the callback of an observer of `path`.
  func heard(at path: ObservedPath) -> Wave {
    var wave = self
    wave.chain.append(path)
    return wave
  }

  /// Returns the cascade of two coalesced commits. A field counts as passed only if both passed it.
  func folded(with other: Wave) -> Wave {
    var wave = self
    wave.places.formIntersection(other.places)
    if other.chain.count > chain.count { wave.chain = other.chain }
    return wave
  }

  /// - Throws: ``StoreError`` with code `notificationCycle` when one more write would exceed the
  ///   limit.
  func checkRounds() throws(StoreError) {
    guard chain.count >= Self.roundCountMax else { return }
    let last = chain.suffix(4).map(\.description).joined(separator: " → ")
    throw StoreError(
      .notificationCycle,
      "\(Self.roundCountMax) writes by callbacks triggered each other, the latest by callbacks of \(last). Nothing was changed. Let one of these callbacks write only if the value differs.",
      model: chain.last?.model)
  }
}
