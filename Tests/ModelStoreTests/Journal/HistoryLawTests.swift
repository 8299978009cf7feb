import Foundation
import Testing

@testable import ModelStore

@Suite(.tags(.law)) struct HistoryLawTests {
  /// How many transactions: MODELSTORE_HISTORY=10000 for a long run.
  private static let count =
    ProcessInfo.processInfo.environment["MODELSTORE_HISTORY"].flatMap { Int($0) } ?? 1000

  @Test func undoingEverythingLeavesTheContentBeforeAndRedoingTheContentAfter() throws {
    let seed: UInt64 = 4711
    print("history law: seed \(seed), \(Self.count) transactions")
    let world = try HistoryWorld(seed: seed)
    let before = try world.content()
    for _ in 0..<Self.count { try world.step() }
    let after = try world.content()
    #expect(before != after)
    let written = try world.store.changeJournal.newestTransactions()
      .count { !$0.isForeign && !$0.changes.isEmpty }
    #expect(written > Self.count / 2)

    var undone: [TransactionID?] = []
    while let reversal = try world.store.undo() { undone.append(reversal.reverted) }
    #expect(undone.count == written)
    #expect(Set(undone).count == written)
    #expect(try world.content() == before)

    var redone = 0
    while try world.store.redo() != nil { redone += 1 }
    #expect(redone == written)
    #expect(try world.content() == after)
    #expect(try world.store.undo() != nil)
    #expect(try world.store.checkIntegrity() == [])
  }

  @Test func thePreviewOfUndoAndRedoMatchesTheirResult() throws {
    for seed: UInt64 in 1...6 {
      let world = try HistoryWorld(seed: seed)
      for _ in 0..<40 { try world.step() }
      for count in [1, 2, 5, 11] {
        let before = try world.content()
        let undoing = try #require(try world.store.previewUndo(count))
        #expect(undoing.reverted.count == count)
        #expect(try world.content() == before)
        for id in undoing.reverted { #expect(try world.store.undo()?.reverted == id) }
        let undone = try world.content()
        #expect(Self.rows(before, after: undoing.changes) == Self.rows(undone), "seed \(seed)")
        let redoing = try #require(try world.store.previewRedo(count))
        #expect(redoing.reverted.count == count)
        #expect(try world.content() == undone)
        for id in redoing.reverted { #expect(try world.store.redo()?.reverted == id) }
        #expect(try world.content() == before)
        #expect(Self.rows(undone, after: redoing.changes) == Self.rows(before), "seed \(seed)")
      }
      #expect(try world.store.previewRedo(2) == nil)
      let all = try world.store.changeJournal.newestTransactions()
        .count { !$0.isForeign && !$0.changes.isEmpty && $0.reverted == nil }
      #expect(try world.store.previewUndo(.max)?.reverted.count == all)
    }
  }

  /// Every table as a set of rows, once `changes` are made.
  private static func rows(
    _ content: [String: [[SQLValue]]], after changes: ChangeSet? = nil
  ) -> [String: Set<[SQLValue]>] {
    var rows = content.mapValues { Set($0) }
    for change in changes?.changes ?? [] {
      if let old = change.old { rows[change.model]?.remove(old) }
      if let new = change.new { rows[change.model]?.insert(new) }
    }
    return rows
  }

  @Test func everyPositionReadsAsItWas() throws {
    for seed: UInt64 in 1...4 {
      let world = try HistoryWorld(seed: seed)
      let other = try PlainDatabase(world.path)
      var copies: [(JournalPosition, [String: [[SQLValue]]])] = []
      for number in 0..<120 {
        try world.step()
        if number % 3 == 0 {
          try other.execute("UPDATE Song SET plays = plays + 1 WHERE id % 2 = \(number % 2)")
        }
        if number % 12 == 0 {
          copies.append((try world.store.changeJournal.position(), try world.content()))
        }
      }
      for (position, content) in copies {
        for model in world.store.schema.models {
          let records = try world.store.fetch(StoreQuery<DynamicRecord>(model), at: position)
          #expect(
            records.map(\.values) == content[model.name], "seed \(seed), \(model.name) \(position)")
          for record in records.prefix(2) {
            #expect(try world.store.find(model, key: record.key, at: position) == record)
          }
        }
      }
    }
  }

  @Test func aRecordIsFoundByTheSpellingOfItsKeyNow() throws {
    let world = try HistoryWorld()
    let seats = try world.store.schema.model(named: "Seat")
    let start = try world.store.changeJournal.position()
    let before = try world.store.find(seats, key: [.text("a"), .integer(1)], at: start)
    #expect(before?["name"] == .text("x"))
    try world.store.write { tx in
      try tx.execute("UPDATE Seat SET row = 'A', name = 'other' WHERE number = 1")
    }
    for spelling in ["a", "A"] {
      let key: [SQLValue] = [.text(spelling), .integer(1)]
      #expect(try world.store.find(seats, key: key, at: start) == before)
      let now = try world.store.changeJournal.position()
      #expect(try world.store.find(seats, key: key, at: now)?["name"] == .text("other"))
    }
  }

  @Test func changesBetweenPositionsTurnTheOldResultIntoTheNew() throws {
    let world = try HistoryWorld(seed: 77)
    var positions: [JournalPosition] = [try world.store.changeJournal.position()]
    for number in 0..<90 {
      try world.step()
      if number % 9 == 0 { positions.append(try world.store.changeJournal.position()) }
    }
    let albums = Album.where { $0.id > 1 }.order { $0.title }
    for query in [albums, albums.limit(3, offset: 1)] {
      for (start, end) in zip(positions, positions.dropFirst() + [positions[2]]) {
        var list = try world.store.fetch(query, at: start)
        let changes = try world.store.difference(of: query, from: start, to: end)
        changes.apply(to: &list)
        #expect(try list == world.store.fetch(query, at: end), "\(start) to \(end)")
        #expect(changes.deletions.allSatisfy { $0.origin == .foreign })
      }
    }
    #expect(
      try world.store.difference(of: albums, from: positions[0]).newCount
        == world.store.fetch(albums).count)
  }
}
