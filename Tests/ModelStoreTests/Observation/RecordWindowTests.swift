import Synchronization
import Testing

@testable import ModelStore

/// Cells that show records: each receives events of its own record while it shows it.
@Suite(.tags(.unit)) struct RecordWindowTests {
  @Test("TC1 TC3 only visible records are observed, and scrolling replaces them")
  func scrollingExchangesRecords() throws {
    let shop = try MusicShop()
    let window = try shop.store.observe(\Album.title, ofEach: [1, 2]) { key, change in
      shop.told.add("\(key) \(change.text)")
    }
    #expect(window.keys == [1, 2])
    #expect(shop.registry == ["Album[1].title", "Album[2].title"])
    try shop.store.write { tx in
      for key in [1, 2, 3] as [Int64] { try tx.set(\Album.title, to: "\(key)!", for: key) }
    }
    #expect(shop.news() == ["1 one → 1!", "2 two → 2!"])
    try window.move(to: [2, 3])
    #expect(shop.registry == ["Album[2].title", "Album[3].title"])
    try shop.store.write { tx in
      for key in [1, 2, 3] as [Int64] { try tx.set(\Album.title, to: "\(key)?", for: key) }
    }
    #expect(shop.news() == ["2 2! → 2?", "3 3! → 3?"])
    window.cancel()
    #expect(shop.registry == [])
    try window.move(to: [1])
    try window.move(to: [1])
    #expect(shop.registry == ["Album[1].title"])
  }

  @Test func enteringRecordsCanReportTheirCurrentValues() throws {
    let shop = try MusicShop()
    let window = try shop.store.observe(\Album.title, ofEach: [2, 1], options: .initial) {
      key, change in shop.told.add("\(key) \(change.phase) \(change.text)")
    }
    #expect(shop.news() == ["2 initial none → two", "1 initial none → one"])
    try window.move(to: [3, 1])
    #expect(shop.news() == ["3 initial none → three"])
    let refused = failure {
      try shop.store.write { tx in try window.move(to: [1, 2]) }
    }
    #expect(refused?.code == .misuse)
    #expect(window.keys == [1])
    #expect(shop.registry == ["Album[1].title"])
  }

  @Test("TC2 removing an unregistered record has no effect")
  func doubleRemoval() throws {
    let shop = try MusicShop()
    let window = try shop.store.observe(\Album.title, ofEach: [1]) { _, _ in }
    for _ in 0..<2 {
      try window.move(to: [])
      window.cancel()
    }
    #expect(shop.registry == [])
  }

  @Test("TC4 a recycled cell receives no events of its former row")
  func aRecycledCellReceivesEventsOfItsOwnRow() throws {
    let shop = try MusicShop()
    final class Cell: Sendable {
      let bag = ObservationBag()
      let shown = Mutex<[String]>([])

      func show(_ key: Int64, in store: Store) throws {
        bag.removeAll()
        try store.observe(.field(\Album.title, of: key), in: bag) { [weak self] change in
          self?.shown.withLock { $0.append("\(key) \(change.new ?? "none")") }
        }
      }
    }
    let gate = DispatchGate()
    let blocking = try shop.store.observe(Artist.self) { _ in gate.wait() }
    let cell = Cell()
    try cell.show(1, in: shop.store)
    try shop.setArtist("blocks")
    // Committed while the cell showed it, delivered when it does not any more.
    try shop.setTitle("late", of: 1)
    try cell.show(2, in: shop.store)
    try shop.setTitle("own", of: 2)
    gate.open()
    shop.store.waitForDelivery()
    #expect(cell.shown.withLock { $0 } == ["2 own"])
    blocking.cancel()
  }

  @Test("TC5 writes through the store are reported, including those of triggers")
  func triggersFireToo() throws {
    let shop = try MusicShop()
    try shop.store.write { tx in
      try tx.execute(
        """
        CREATE TRIGGER shout AFTER UPDATE OF artistID ON Album BEGIN
          UPDATE Album SET title = upper(title) WHERE id = new.id;
        END
        """)
    }
    let window = try shop.store.observe(\Album.title, ofEach: [1]) { key, change in
      shop.told.add("\(key) \(change.text) \(change.origin)")
    }
    try shop.store.write { tx in try tx.execute("UPDATE Album SET artistID = NULL WHERE id = 1") }
    #expect(shop.news() == ["1 one → ONE trigger:shout"])
    withExtendedLifetime(window) {}
  }

  @Test func movesFromSeveralThreadsSettle() async throws {
    let shop = try MusicShop()
    let window = try await shop.store.observe(\Album.title, ofEach: []) { _, _ in }
    await withTaskGroup(of: Void.self) { group in
      for task in 0..<4 as Range<Int64> {
        group.addTask {
          for round in 0..<200 as Range<Int64> {
            do {
              try window.move(to: [round % 3, (round + task) % 5])
            } catch {
              Issue.record(error)
            }
          }
        }
      }
    }
    #expect(Set(shop.registry) == Set(window.keys.map { "Album[\($0)].title" }))
  }
}
