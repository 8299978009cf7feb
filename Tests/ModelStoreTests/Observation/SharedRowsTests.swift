import Synchronization
import Testing

@testable import ModelStore

/// Live queries share the places and records of the rows that a commit changes, where they are the
/// same for both. These tests count what is decoded, and change something that keeps two queries
/// from sharing.
@Suite(.tags(.unit), .serialized) struct SharedRowsTests {
  /// A record that counts how often it is decoded, and that cannot hold a negative number.
  struct Reading: Model, Hashable {
    static let decodedCount = Mutex(0)

    var id: Int64
    var value: Int64
    var rank: Int64

    static let definition = ModelDefinition<Reading>(
      "Reading", key: \.id,
      fields: [.init("id", \.id), .init("value", \.value), .init("rank", \.rank)])

    var key: Int64 { id }

    init(id: Int64, value: Int64, rank: Int64) {
      (self.id, self.value, self.rank) = (id, value, rank)
    }

    init(row: borrowing RowView) throws {
      id = try row.decode(at: 0)
      value = try row.decode(at: 1)
      rank = try row.decode(at: 2)
      if value < 0 { throw ColumnError("the value is negative") }
      Self.decodedCount.withLock { $0 += 1 }
    }

    func encode(to arguments: inout ArgumentWriter) throws {
      try id.encode(to: &arguments, at: 0)
      try value.encode(to: &arguments, at: 1)
      try rank.encode(to: &arguments, at: 2)
    }
  }

  /// A store with the records 1 to 100, whose value and rank are their key.
  private final class World {
    let directory: TemporaryDirectory
    let errors = Recorder<String>()
    let store: Store
    private var tokens: [ObservationToken] = []

    init() throws {
      let directory = try TemporaryDirectory()
      let errors = errors
      self.directory = directory
      store = try Store(at: directory.file("a.store"), models: Reading.self) {
        errors.add($0.message)
      }
      try store.write { tx in
        for id in Int64(1)...100 { try tx.insert(Reading(id: id, value: id, rank: id)) }
      }
    }

    func observe(_ query: StoreQuery<Reading>) throws -> Recorder<QueryChanges<Reading>> {
      let recorder = Recorder<QueryChanges<Reading>>()
      tokens.append(try store.liveQuery(query).observe { recorder.add($0) })
      return recorder
    }

    /// Returns how many records were decoded to deliver the commit of `body`.
    func decodings(_ body: (borrowing WriteTransaction) throws -> Void) throws -> Int {
      var before = 0
      try store.write { tx in
        try body(tx)
        before = Reading.decodedCount.withLock { $0 }
      }
      store.waitForDelivery()
      return Reading.decodedCount.withLock { $0 } - before
    }
  }

  private static func updates(_ recorder: Recorder<QueryChanges<Reading>>) -> [[Int64]] {
    recorder.events.flatMap(\.updates).map { update in
      [Int64(update.oldIndex), Int64(update.newIndex), update.old.value, update.new.value]
    }
  }

  @Test func aChangedRecordIsDecodedOnceForAllQueries() throws {
    let world = try World()
    let recorders = try (1...20).map { low in
      try world.observe(
        Reading.where { $0.rank >= Int64(low) && $0.rank < 60 }.order { $0.rank })
    }
    let count = try world.decodings { tx in
      try tx.set(\Reading.value, to: 1040, for: 40)
      try tx.set(\Reading.value, to: 1030, for: 30)
    }
    // Two records, before and after.
    #expect(count == 4)
    for (place, recorder) in recorders.enumerated() {
      let first = Int64(place + 1)
      #expect(
        Self.updates(recorder) == [
          [30 - first, 30 - first, 30, 1030], [40 - first, 40 - first, 40, 1040],
        ])
    }
  }

  @Test func queriesInDifferentOrdersHaveTheirOwnPlaces() throws {
    let world = try World()
    let ascending = try world.observe(Reading.all.order { $0.value })
    let descending = try world.observe(Reading.all.order { $0.value.descending })
    let byRank = try world.observe(Reading.all.order { $0.rank })
    _ = try world.decodings { tx in try tx.set(\Reading.value, to: 1000, for: 50) }
    #expect(Self.updates(ascending) == [[49, 99, 50, 1000]])
    #expect(Self.updates(descending) == [[50, 0, 50, 1000]])
    #expect(Self.updates(byRank) == [[49, 49, 50, 1000]])
  }

  @Test func aRecordThatOneQueryLosesStaysInAnother() throws {
    let world = try World()
    let low = try world.observe(Reading.where { $0.value < 60 }.order { $0.rank })
    let all = try world.observe(Reading.all.order { $0.rank })
    let high = try world.observe(Reading.where { $0.value >= 60 }.order { $0.rank })
    _ = try world.decodings { tx in try tx.set(\Reading.value, to: 1000, for: 50) }
    #expect(low.events.flatMap(\.deletions).map(\.index) == [49])
    #expect(low.events.flatMap(\.deletions).map(\.reason) == [.filter])
    #expect(low.events.flatMap(\.deletions).map(\.record?.value) == [50])
    #expect(Self.updates(all) == [[49, 49, 50, 1000]])
    #expect(high.events.flatMap(\.insertions).map(\.index) == [0])
    #expect(high.events.flatMap(\.insertions).map(\.record.value) == [1000])
  }

  @Test func onlyEventsThatReportARecordFailWhenItCannotBeDecoded() throws {
    let world = try World()
    let positive = try world.observe(Reading.where { $0.value > 0 }.order { $0.rank })
    let all = try world.observe(Reading.all.order { $0.rank })
    let first = try world.observe(Reading.where { $0.rank < 60 }.order { $0.rank })
    _ = try world.decodings { tx in try tx.set(\Reading.value, to: -1, for: 50) }
    #expect(positive.events.flatMap(\.deletions).map(\.record?.value) == [50])
    #expect(all.events.isEmpty)
    #expect(first.events.isEmpty)
    #expect(world.errors.events.count == 2)
  }

  @Test func aLaterCommitShiftsARowOfACoalescedEvent() throws {
    let world = try World()
    let recorder = Recorder<QueryChanges<Reading>>()
    let token = try world.store.liveQuery(Reading.all.order { $0.rank })
      .observe(coalescing: .latest) { recorder.add($0) }
    token.pause()
    try world.store.write { tx in try tx.set(\Reading.value, to: 1000, for: 50) }
    try world.store.write { tx in try tx.insert(Reading(id: 200, value: 1, rank: 0)) }
    try world.store.write { tx in try tx.set(\Reading.value, to: 2000, for: 60) }
    token.resume()
    world.store.waitForDelivery()
    #expect(Self.updates(recorder) == [[49, 50, 50, 1000], [59, 60, 60, 2000]])
    #expect(recorder.events.flatMap(\.insertions).map(\.index) == [0])
  }

  @Test func aWindowCountsFromItsOwnFirstRow() throws {
    let world = try World()
    let whole = try world.observe(Reading.all.order { $0.rank })
    let window = try world.observe(Reading.all.order { $0.value }.limit(10, offset: 45))
    _ = try world.decodings { tx in try tx.set(\Reading.rank, to: 50_000, for: 50) }
    #expect(whole.events.flatMap(\.moves).map(\.newIndex) == [99])
    #expect(window.events.flatMap(\.updates).map(\.newIndex) == [4])
  }
}
