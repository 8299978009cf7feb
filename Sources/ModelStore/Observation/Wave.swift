/// The fields that a chain of writes has passed on its way from one to the next, for those who must
/// not send a value round in a circle. A write that answers no callback begins a new one.
///
/// It follows the code that runs, from a callback into the writes that it makes and the tasks that
/// it starts, and with each write into the callbacks that hear of it.
struct Wave: Hashable, Sendable {
  struct Place: Hashable, Sendable {
    let store: ObjectIdentifier
    let path: ObservedPath
  }

  private var places: Set<Place> = []

  @TaskLocal static var current = Wave()

  var isEmpty: Bool { places.isEmpty }

  func hasPassed(_ place: Place) -> Bool { places.contains(place) }

  /// The same wave, arrived at `place`.
  func passing(_ place: Place) -> Wave {
    var wave = self
    wave.places.insert(place)
    return wave
  }

  /// The wave of two commits told as one: what either of them passed anew is news to it.
  func folded(with other: Wave) -> Wave {
    var wave = self
    wave.places.formIntersection(other.places)
    return wave
  }
}
