import Foundation
import ModelStore
import Testing

@testable import StoreCommand

@Suite struct WatchFoldTests {
  @Test func whatWasUndoneOnTheWayIsNotTold() throws {
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
    let outcome = try world.watch("Track", "--fold", from: start)
    #expect(outcome.code == 0, "\(outcome)")
    #expect(try told(outcome.out) == ["~ 1 seconds 100 -> 400", "+ 9002", "- 3"])
    #expect(outcome.out.contains("\"seconds\":{\"new\":6}"))
    #expect(outcome.out.contains("\"seconds\":{\"old\":100}"))
  }

  @Test func aPredicateIsFoldedAsTheRecordsThatMeetIt() throws {
    let world = try WatchWorld()
    try world.raw.execute("UPDATE Track SET seconds = 100 WHERE id <= 4")
    let start = try world.position()
    for seconds in [500, 100, 600] { try world.set("seconds = \(seconds)", of: 1) }
    for seconds in [500, 100] { try world.set("seconds = \(seconds)", of: 2) }
    let outcome = try world.watch("Track", "seconds > 400", "--fold", from: start)
    #expect(try told(outcome.out) == ["+ 1 entered"])
  }

  @Test("any steps of one record come to the difference of its ends", arguments: 0..<40)
  func foldingIsTheDifferenceOfTheEnds(seed: UInt64) {
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

  private static func change(from old: Int64?, to new: Int64?) -> WatchedChange {
    let operation: RecordChange.Operation = old == nil ? .insert : new == nil ? .delete : .update
    return WatchedChange(
      change: ChangeLine(
        operation: operation, model: "M", key: [.integer(1)],
        fields: [.init(name: "n", old: old.map { .integer($0) }, new: new.map { .integer($0) })],
        origin: .user),
      time: 0)
  }

  private static func words(_ change: WatchedChange) -> String {
    let fields = change.change.fields.map { "\($0.name) \($0.old ?? .null) \($0.new ?? .null)" }
    return "\(change.change.operation) \(fields)"
  }
}
