internal import Synchronization

/// A feed of commits for a gate. It reports each commit once, with all of the gate's records that
/// the commit touches.
final class GateFeed: Sendable {
  let places: [GatePlace]
  /// For each place, the fields that matter.
  let fields: [Set<Int>]
  private let store: GateStore
  /// Called on the delivery queue with the new records; nil for a deleted one.
  private let receive: @Sendable ([Int: [SQLValue]?]) -> Void
  private let state = Mutex(State())

  private struct State {
    var waiting: [Note] = []
    var ends: [@Sendable () -> Void] = []
    var isEnded = false
  }

  private struct Note {
    var version: UInt64
    var place: Int
    var image: [SQLValue]?
    /// Whether the record has to be read again.
    var isReset: Bool
  }

  /// The most notes that wait. Beyond it only the last note of each record is kept, so that a slow
  /// gate skips to the current state.
  private var waitingCountMax: Int { max(1024, 2 * places.count) }

  init(
    store: GateStore, places: [GatePlace], fields: [Set<Int>],
    receive: @escaping @Sendable ([Int: [SQLValue]?]) -> Void
  ) {
    self.store = store
    self.places = places
    self.fields = fields
    self.receive = receive
  }

  /// Returns the observer of the record at one place.
  func observer(of place: Int, interest: ChangeBroker.Interest) -> some ChangeBroker.Observer {
    PlaceObserver(feed: self, place: place, interests: [interest])
  }

  private final class PlaceObserver: ChangeBroker.Observer {
    let feed: GateFeed
    let place: Int
    let interests: [ChangeBroker.Interest]

    init(feed: GateFeed, place: Int, interests: [ChangeBroker.Interest]) {
      self.feed = feed
      self.place = place
      self.interests = interests
    }

    func note(_ commit: ChangeBroker.Commit) -> ChangeBroker.Outcome {
      feed.note(commit, at: place)
      return .ready
    }

    func deliver(upTo version: UInt64) { feed.deliver(upTo: version) }
  }

  private func note(_ commit: ChangeBroker.Commit, at place: Int) {
    let note = Note(
      version: commit.version, place: place,
      // Changing a key to an equivalent one is a deletion and an insertion.
      image: commit.changes.last { $0.new != nil }?.new, isReset: commit.isReset)
    state.withLock { state in
      state.waiting.append(note)
      if state.waiting.count > waitingCountMax { state.waiting = Self.last(of: state.waiting) }
    }
  }

  /// Returns the last note of each record, in order.
  private static func last(of notes: [Note]) -> [Note] {
    var indices: [Int: Int] = [:]
    var last: [Note] = []
    for note in notes.reversed() {
      if let index = indices[note.place] {
        last[index].isReset = last[index].isReset || note.isReset
      } else {
        indices[note.place] = last.count
        last.append(note)
      }
    }
    return last.reversed()
  }

  /// Delivers the notes of commits up to `version`. Every note of a commit is added before its
  /// first observer is called.
  private func deliver(upTo version: UInt64) {
    let notes = state.withLock { state in
      let count = state.waiting.firstIndex { $0.version > version } ?? state.waiting.endIndex
      let notes = Array(state.waiting[..<count])
      state.waiting.removeFirst(count)
      return state.isEnded ? [] : notes
    }
    var images: [Int: [SQLValue]?] = [:]
    for (index, note) in notes.enumerated() {
      images[note.place] = .some(note.isReset ? current(note.place) : note.image)
      let isLast = index + 1 == notes.count || notes[index + 1].version != note.version
      if isLast {
        receive(images)
        images = [:]
      }
    }
  }

  private func current(_ place: Int) -> [SQLValue]? {
    do {
      return try store.reread(places[place])
    } catch {
      store.report(error)
      return nil
    }
  }

  /// Calls `leave` when the feed ends, or at once when it has already ended.
  func end(by leave: @escaping @Sendable () -> Void) {
    let isLate = state.withLock { state in
      if !state.isEnded { state.ends.append(leave) }
      return state.isEnded
    }
    if isLate { leave() }
  }

  func end() {
    let ends = state.withLock { state in
      defer { state.ends = [] }
      state.isEnded = true
      state.waiting = []
      return state.ends
    }
    for end in ends { end() }
  }
}
