import Testing

@testable import ModelStore

/// Coalesced commits in lists whose rows keep their number when another element replaces theirs: an
/// element may leave a row and come back to it.
@Suite(.tags(.law)) struct AdoptedListLawTests {
  @Test func anElementThatCameBackIsNotReportedWithFieldsOfAnother() throws {
    let world = try AdoptedListWorld(entries: [(1, "0")])
    let subscription = try world.observe(fields: ["Name"], coalescing: .latest)
    subscription.pause()
    try world.edit { try $0.replace(at: 0, with: .integer(2)) }
    try world.rename(2)
    try world.edit { try $0.replace(at: 0, with: .integer(1)) }
    subscription.resume()
    world.store.waitForDelivery()
    let event = try #require(world.told.taken().first)
    #expect(event.updates == [])
    #expect(event.deletions.map(\.key) == [.integer(1)])
    #expect(event.insertions.map(\.key) == [.integer(1)])
    #expect(event.operations?.map(\.kind) == [.replace, .replace])
  }

  @Test func changesToAnElementWhileItIsOutOfTheListAreNotLost() throws {
    let world = try AdoptedListWorld(entries: [(1, "0")])
    let subscription = try world.observe(fields: ["Name"], coalescing: .latest)
    subscription.pause()
    try world.edit { try $0.replace(at: 0, with: .integer(2)) }
    try world.rename(1)
    try world.edit { try $0.replace(at: 0, with: .integer(1)) }
    subscription.resume()
    world.store.waitForDelivery()
    let events = world.told.taken()
    #expect(events.map { $0.deletions.map(\.index) } == [[0]])
    #expect(events.map { $0.insertions.map(\.index) } == [[0]])
  }

  @Test(
    "P1 P4 P9 coalesced commits are reported exactly, with each element's own fields",
    arguments: AdoptedListWorld.Design.allCases)
  func coalescedCommitsAreReportedExactly(design: AdoptedListWorld.Design) throws {
    let seed: UInt64 = 20_261_125
    print("seed \(seed)")
    var random = SeededGenerator(seed: seed)
    let world = try AdoptedListWorld(design, entries: [(1, "0"), (2, "1"), (3, "2")])
    let subscription = try world.observe(fields: ["Name"], coalescing: .latest)
    var eventCount = 0
    for step in 0..<300 {
      let before = (tracks: try world.tracks(), names: try world.names())
      subscription.pause()
      for _ in 0..<3 { try world.write(&random) }
      subscription.resume()
      world.store.waitForDelivery()
      let after = (tracks: try world.tracks(), names: try world.names())
      let events = world.told.taken()
      #expect(events.count <= 1)
      guard let event = events.first else {
        #expect(before.tracks == after.tracks, "step \(step)")
        #expect(before.tracks.allSatisfy { before.names[$0] == after.names[$0] }, "step \(step)")
        continue
      }
      eventCount += 1
      var keys = before.tracks.map(SQLValue.integer)
      event.apply(to: &keys)
      #expect(keys.map(\.number) == after.tracks, "step \(step)")
      var differing: [[Int]] = []
      for (old, new) in event.retained {
        let track = before.tracks[old]
        #expect(track == after.tracks[new], "step \(step)")
        if before.names[track] != after.names[track] { differing.append([old, new]) }
      }
      #expect(event.updates.map { [$0.oldIndex, $0.newIndex] } == differing, "step \(step)")
      for update in event.updates {
        let track = after.tracks[update.newIndex]
        #expect(update.key == .integer(track), "step \(step)")
        #expect(update.fields.map(\.old) == [before.names[track]], "step \(step)")
        #expect(update.fields.map(\.new) == [after.names[track]], "step \(step)")
      }
    }
    #expect(eventCount > 200)
  }
}

extension AdoptedListWorld {
  fileprivate func rename(_ track: Int64) throws {
    try store.write { try $0.execute("UPDATE Track SET Name = Name || '!' WHERE Id = \(track)") }
  }

  /// One or two random changes of playlist 1, whose length stays, or of its tracks.
  fileprivate func write(_ random: inout SeededGenerator) throws {
    try store.write { tx in
      let list = try tx.list("tracks", of: playlist, key: .integer(1))
      for _ in 0..<Int.random(in: 1...2, using: &random) {
        let track = Int64.random(in: 1...3, using: &random)
        let place = Int.random(in: 0..<3, using: &random)
        let other = Int.random(in: 0..<3, using: &random)
        switch Int.random(in: 0..<6, using: &random) {
        case 0...2: try list.replace(at: place, with: .integer(track))
        case 3: try list.move(from: place, to: other)
        case 4: try tx.execute("UPDATE Entry SET TrackId = 4 - TrackId WHERE TrackId = \(track)")
        default:
          let name = "name \(other)"
          try tx.execute("UPDATE Track SET Name = \(name) WHERE Id = \(track)")
        }
      }
    }
  }
}

extension ListChanges {
  /// Old and new index of the slots that stay, by new index.
  fileprivate var retained: [(old: Int, new: Int)] {
    let leaving = Set(deletions.map(\.index) + moves.map(\.oldIndex))
    let arriving = Set(insertions.map(\.index) + moves.map(\.newIndex))
    let staying = zip(
      (0..<old.count).filter { !leaving.contains($0) },
      (0..<new.count).filter { !arriving.contains($0) })
    return (staying.map { (old: $0, new: $1) } + moves.map { (old: $0.oldIndex, new: $0.newIndex) })
      .sorted { $0.new < $1.new }
  }
}
