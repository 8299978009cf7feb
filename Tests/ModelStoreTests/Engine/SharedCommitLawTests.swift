import Synchronization
import Testing

@testable import ModelStore

/// Random writes that wait at the same time leave what they would leave one after the other, and
/// observers receive one exact change set for each.
@Suite(.tags(.law), .timeLimit(.minutes(30))) struct SharedCommitLawTests {
  private enum Step: Hashable, Sendable {
    case insert(Int64, String)
    case rename(Int64, String)
    case delete(Int64)
    /// Deletes in a savepoint that is undone.
    case undone(Int64)
    /// Inserts an album before its artist may exist.
    case album(Int64, by: Int64)
    case fail
    /// Inserts with OR ROLLBACK: if the artist exists, SQLite rolls back everything.
    case insertOrRollBack(Int64)
  }

  private struct Refusal: Error {}

  private static let artistCountMax = 6

  private static let few = Validator("Artist.few", Artist.self) { _, tx in
    try tx.count(Artist.all) > artistCountMax ? .reject("has too many beside it") : .accept
  }

  /// What may go wrong in the model, to see that the law finds it.
  private enum Fault { case none, keepsRefused, validatesLate, leavesSiblings }

  /// The records, without any knowledge of transactions.
  private struct World: Equatable {
    var artists: [Int64: String] = [:]
    var albums: [Int64: Int64] = [:]

    enum Ruin: Error { case refused, rolledBack }

    mutating func run(_ steps: [Step], _ fault: Fault) throws(Ruin) {
      let before = artists
      for step in steps {
        switch step {
        case .insert(let id, let name):
          if artists[id] != nil { throw .refused }
          artists[id] = name
        case .rename(let id, let name):
          if artists[id] == nil { throw .refused }
          artists[id] = name
        case .delete(let id):
          // Without the artist there is nothing to cascade, even if an album waits for it.
          if artists.removeValue(forKey: id) != nil { albums = albums.filter { $0.value != id } }
        case .undone: break
        case .album(let id, let artist):
          if albums[id] != nil { throw .refused }
          albums[id] = artist
        case .fail: throw .refused
        case .insertOrRollBack(let id):
          if artists[id] != nil { throw .rolledBack }
          artists[id] = "r"
        }
      }
      if albums.values.contains(where: { artists[$0] == nil }) { throw .refused }
      let limit = fault == .validatesLate ? .max : artistCountMax
      if artists != before, artists.count > limit { throw .refused }
    }

    /// The changes of artists since `earlier`, by key.
    func changes(since earlier: World) -> [String] {
      Set(artists.keys).union(earlier.artists.keys).sorted().compactMap { id in
        let (old, new) = (earlier.artists[id], artists[id])
        return old == new ? nil : "\(id) \(old ?? "-") \(new ?? "-")"
      }
    }
  }

  /// What a batch of writes leads to.
  private struct Outcome: Equatable {
    var words: [String] = []
    var world = World()
    var events: [String] = []
  }

  private static func steps(_ random: inout SeededGenerator) -> [Step] {
    (0..<Int.random(in: 0...4, using: &random)).map { _ in
      let id = Int64.random(in: 1...9, using: &random)
      switch Int.random(in: 0..<24, using: &random) {
      case 0..<8: return .insert(id, "\(Int.random(in: 0...9, using: &random))")
      case 8..<12: return .rename(id, "\(Int.random(in: 0...9, using: &random))")
      case 12..<16: return .delete(id)
      case 16..<18: return .undone(id)
      case 18..<21: return .album(Int64.random(in: 1...20, using: &random), by: id)
      case 21: return .insertOrRollBack(id)
      default: return .fail
      }
    }
  }

  private static func apply(_ steps: [Step], _ tx: borrowing WriteTransaction) throws {
    try tx.deferReferenceChecks()
    for step in steps {
      switch step {
      case .insert(let id, let name): try tx.insert(Artist(id: id, name: name))
      case .rename(let id, let name): try tx.set(\Artist.name, to: name, for: id)
      case .delete(let id): try tx.delete(Artist.self, id)
      case .undone(let id):
        do {
          try tx.savepoint { tx in
            try tx.delete(Artist.self, id)
            throw Refusal()
          }
        } catch is Refusal {}
      case .album(let id, let artist): try tx.insert(Album(id: id, title: "t", artistID: artist))
      case .fail: throw Refusal()
      case .insertOrRollBack(let id):
        try tx.execute("INSERT OR ROLLBACK INTO Artist VALUES (\(id), 'r')")
      }
    }
  }

  /// The outcome by the rules: the writes run one after the other, and those that share a
  /// transaction with a rollback are lost.
  private static func expected(
    _ batch: [[Step]], from world: World, version: UInt64, isCautious: inout Bool, _ fault: Fault
  ) -> Outcome {
    var outcome = Outcome(world: world)
    var version = version
    var next = 0
    while next < batch.count {
      // One transaction.
      let start = (outcome, version, next)
      let isAlone = isCautious || next == batch.count - 1
      var kept: [Int] = []
      while next < batch.count, next == start.2 || !isAlone {
        let before = outcome.world
        let steps = batch[next]
        next += 1
        do {
          try outcome.world.run(steps, fault)
          version += 1
          kept.append(outcome.words.count)
          outcome.words.append("kept")
          let changes = outcome.world.changes(since: before)
          if !changes.isEmpty { outcome.events.append("\(version): \(changes)") }
        } catch .refused {
          if fault != .keepsRefused { outcome.world = before }
          outcome.words.append("refused")
        } catch {
          outcome.words.append("refused")
          guard fault != .leavesSiblings else {
            outcome.world = before
            continue
          }
          let words = outcome.words
          (outcome, version) = (start.0, start.1)
          outcome.words = words
          for place in kept { outcome.words[place] = "busy" }
          if !isAlone { isCautious = isCautious || !kept.isEmpty }
          kept = []
          break
        }
      }
      if isAlone, !kept.isEmpty { isCautious = false }
    }
    return outcome
  }

  private static func actual(
    _ batch: [[Step]], on store: Store, _ events: Recorder<String>
  ) async throws -> Outcome {
    let errors = await HeldWriter.run(
      on: store, batch.map { steps in { tx in try apply(steps, tx) } })
    await store.waitForDelivery()
    var outcome = Outcome()
    outcome.words = errors.map { error in
      error == nil ? "kept" : (error as? StoreError)?.code == .busy ? "busy" : "refused"
    }
    for artist in try await store.fetch(Artist.all) {
      outcome.world.artists[artist.id] = artist.name
    }
    for album in try await store.fetch(Album.all) {
      outcome.world.albums[album.id] = album.artistID ?? 0
    }
    outcome.events = events.taken()
    return outcome
  }

  /// - Returns: The first batch whose outcome differs, as text; nil if all agree.
  private static func difference(seed: UInt64, _ fault: Fault) async throws -> String? {
    var random = SeededGenerator(seed: seed)
    let directory = try TemporaryDirectory()
    var configuration = StoreConfiguration()
    if seed % 2 == 0 { configuration.changeJournal = .full }
    let store = try await Store(
      at: directory.file("law.store"), models: Artist.self, Album.self, validators: [few],
      configuration: configuration)
    let events = Recorder<String>()
    let token = try store.observe(Artist.self) { changes in
      let lines = changes.changes.sorted {
        $0.change.key[0].description < $1.change.key[0].description
      }
      .map { "\($0.change.key[0]) \($0.old?.name ?? "-") \($0.new?.name ?? "-")" }
      events.add("\(changes.version): \(lines)")
    }
    let rows = Mutex<[Artist]>([])
    let live = try await store.liveQuery(Artist.all.order { $0.name })
    let follower = try await live.observe { event in rows.withLock { event.apply(to: &$0) } }
    defer {
      token.cancel()
      follower.cancel()
    }
    var world = World()
    var isCautious = false
    for _ in 0..<6 {
      let batch = (0..<Int.random(in: 1...12, using: &random)).map { _ in steps(&random) }
      let version = store.engine.broker.version
      let expected = expected(batch, from: world, version: version, isCautious: &isCautious, fault)
      let actual = try await actual(batch, on: store, events)
      guard expected == actual else {
        return "\(batch)\nexpected \(expected)\nactual   \(actual)"
      }
      let shown = rows.withLock { $0.map { "\($0.name) \($0.id)" } }
      let fetched = try await store.fetch(Artist.all.order { $0.name }).map {
        "\($0.name) \($0.id)"
      }
      guard shown == fetched else { return "live query \(shown), file \(fetched)" }
      world = actual.world
    }
    let found = try await store.checkIntegrity()
    return found.isEmpty ? nil : "\(found)"
  }

  @Test(arguments: 1...30) func waitingWritesAreWritesOfTheirOwn(seed: UInt64) async throws {
    let difference = try await Self.difference(seed: seed, .none)
    #expect(difference == nil, "seed \(seed)")
  }

  /// A law that finds no fault proves nothing.
  @Test(arguments: ["keepsRefused", "validatesLate", "leavesSiblings"])
  func aPlantedFaultIsFound(name: String) async throws {
    let fault: Fault =
      name == "keepsRefused"
      ? .keepsRefused : name == "validatesLate" ? .validatesLate : .leavesSiblings
    var found: UInt64?
    for seed in UInt64(1)...30 where found == nil {
      if try await Self.difference(seed: seed, fault) != nil { found = seed }
    }
    #expect(found != nil)
  }
}
