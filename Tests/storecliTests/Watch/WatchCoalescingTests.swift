import Foundation
import ModelStore
import Testing

@testable import StoreCommand

@Suite(.tags(.law)) struct WatchCoalescingTests {
  @Test func changesThatCancelOutAreNotReported() throws {
    let world = try WatchWorld()
    try world.raw.execute("UPDATE Track SET seconds = 100, albumID = 1 WHERE id <= 4")
    let start = try world.position()
    for seconds in [200, 300, 400] { try world.set("seconds = \(seconds)", of: 1) }
    try world.set("seconds = 1", of: 2)
    try world.set("seconds = 100", of: 2)
    try world.raw.execute("INSERT INTO Track VALUES (9001, 'There', 5, 1)")
    try world.raw.execute("DELETE FROM Track WHERE id = 9001")
    try world.raw.execute("INSERT INTO Track VALUES (9002, 'Here', 5, 1)")
    try world.set("seconds = 6", of: 9002)
    try world.set("seconds = 50", of: 3)
    try world.raw.execute("DELETE FROM Track WHERE id = 3")
    let outcome = try world.watch("Track", "--coalesce", from: start)
    #expect(outcome.code == 0, "\(outcome)")
    #expect(try told(outcome.out) == ["~ 1 seconds 100 -> 400", "+ 9002", "- 3"])
    #expect(outcome.out.contains("\"seconds\":{\"new\":6}"))
    #expect(outcome.out.contains("\"seconds\":{\"old\":100}"))
  }

  @Test func withAPredicateMatchingRecordsAreCoalesced() throws {
    let world = try WatchWorld()
    try world.raw.execute("UPDATE Track SET seconds = 100 WHERE id <= 4")
    let start = try world.position()
    for seconds in [500, 100, 600] { try world.set("seconds = \(seconds)", of: 1) }
    for seconds in [500, 100] { try world.set("seconds = \(seconds)", of: 2) }
    let outcome = try world.watch("Track", "seconds > 400", "--coalesce", from: start)
    #expect(try told(outcome.out) == ["+ 1 entered"])
  }

  @Test("any steps of one record coalesce to the difference between its ends", arguments: 0..<40)
  func coalescingIsTheDifferenceOfTheEnds(seed: UInt64) {
    var generator = SeededGenerator(seed: seed)
    var image: Int64? = Bool.random(using: &generator) ? 0 : nil
    let first = image
    var changes: [WatchedChange] = []
    for _ in 0..<Int.random(in: 1...8, using: &generator) {
      let next = Int.random(in: 0..<4, using: &generator)
      let new = next == 3 ? nil : Int64(next)
      guard new != image else { continue }
      changes.append(Self.change(from: image, to: new))
      image = new
    }
    let net = NetChanges.of(changes)
    let expected = first == image ? [] : [Self.words(Self.change(from: first, to: image))]
    #expect(net.map(Self.words) == expected, "seed \(seed)")
  }

  @Test("several steps coalesce to one step between the ends, with its indices", arguments: 0..<60)
  func placesAreThoseOfTheEnds(seed: UInt64) {
    var generator = SeededGenerator(seed: seed)
    var records: [Int64: Int64] = [1: 4, 2: 0, 3: 2]
    let first = records
    var changes: [WatchedChange] = []
    for _ in 0..<Int.random(in: 2...6, using: &generator) {
      let before = records
      for _ in 0..<Int.random(in: 1...3, using: &generator) {
        let value = Int64.random(in: 0..<6, using: &generator)
        records[Int64.random(in: 1...6, using: &generator)] = value == 5 ? nil : value
      }
      changes += Self.step(from: before, to: records)
    }
    let net = NetChanges.placed(
      NetChanges.of(changes), from: Self.keys(of: first), to: Self.keys(of: records))
    let expected = Self.step(from: first, to: records)
    #expect(net.map(Self.words).sorted() == expected.map(Self.words).sorted(), "seed \(seed)")
  }

  @Test func aRecordThatMovedMeanwhileIsNotReportedAsUnchanged() {
    let back = [
      Self.change(from: 0, to: 1, at: .init(old: 0, new: 0)),
      Self.change(from: 1, to: 0, at: .init(old: 0, new: 0)),
    ]
    #expect(NetChanges.of(back).isEmpty)
    var unseen = Self.change(from: 0, to: 0, at: .init(old: 2, new: 0))
    unseen.change.fields = []
    let net = NetChanges.of([unseen] + back)
    #expect(net.map(Self.words) == ["update 1 [] 0 0"])
    let placed = NetChanges.placed(
      net, from: [[.integer(7)], [.integer(8)], [.integer(1)]],
      to: [[.integer(1)], [.integer(7)], [.integer(8)]])
    #expect(placed.map(Self.words) == ["update 1 [] 2 0"])
  }

  /// The numbers of `records` as keys, by value and number.
  private static func keys(of records: [Int64: Int64]) -> [[SQLValue]] {
    records.sorted { ($0.value, $0.key) < ($1.value, $1.key) }.map { [.integer($0.key)] }
  }

  /// What one event reports about the difference between two results.
  private static func step(
    from before: [Int64: Int64], to after: [Int64: Int64]
  ) -> [WatchedChange] {
    let (old, new) = (keys(of: before), keys(of: after))
    return Set(before.keys).union(after.keys).sorted().compactMap { id in
      guard before[id] != after[id] else { return nil }
      let place = WatchedChange.Place(
        old: old.firstIndex(of: [.integer(id)]), new: new.firstIndex(of: [.integer(id)]))
      return change(of: id, from: before[id], to: after[id], at: place)
    }
  }

  private static func change(
    of id: Int64 = 1, from old: Int64?, to new: Int64?, at place: WatchedChange.Place? = nil
  ) -> WatchedChange {
    let operation: RecordChange.Operation = old == nil ? .insert : new == nil ? .delete : .update
    return WatchedChange(
      change: ChangeLine(
        operation: operation, model: "M", key: [.integer(id)],
        fields: [.init(name: "n", old: old.map { .integer($0) }, new: new.map { .integer($0) })],
        origin: .user),
      place: place, time: 0)
  }

  private static func words(_ change: WatchedChange) -> String {
    let fields = change.change.fields.map { "\($0.name) \($0.old ?? .null) \($0.new ?? .null)" }
    let place = change.place.map { [$0.old, $0.new].map { $0.map { " \($0)" } ?? " -" }.joined() }
    return "\(change.change.operation) \(KeyText.text(change.change.key)) \(fields)\(place ?? "")"
  }
}
