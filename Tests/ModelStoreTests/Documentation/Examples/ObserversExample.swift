import ModelStore
import Synchronization
import Testing

@Suite(.tags(.unit)) struct ObserversExample {
  @Test func aBagIsAnObserver() throws {
    let directory = try TemporaryDirectory()
    let path = directory.file("library.store")
    // snippet: observing-in-a-bag
    let store = try Store(at: path, models: Author.self, Book.self)
    try store.write { tx in
      try tx.insert(Book(id: 1, title: "Tehanu", pages: 226))
    }

    let lines = Mutex<[String]>([])
    let bag = ObservationBag()
    let title = Observed.field(\Book.title, of: 1)
    try store.observe(title, in: bag, options: .initial) { change in
      lines.withLock { $0.append("\(change.phase): \(change.new ?? "none")") }
    }
    // The same again: the first stays.
    try store.observe(title, in: bag) { _ in }
    try store.observe(.fields([\Book.pages, \Book.rating], of: 1), in: bag) { event in
      lines.withLock { $0.append(event.field == \Book.pages ? "pages" : "rating") }
    }

    try store.write { tx in
      try tx.set(\Book.title, to: "Tehanu, 4th", for: 1)
      try tx.set(\Book.rating, to: 5, for: 1)
    }
    store.waitForDelivery()
    // initial: Tehanu
    // after: Tehanu, 4th
    // rating

    let observed = bag.observed.map(\.description)
    // observed: ["Book[1].title", "Book[1].pages", "Book[1].rating"]
    bag.remove(title)
    bag.removeAll()
    // end
    #expect(
      lines.withLock { $0 } == ["initial: Tehanu", "after: Tehanu, 4th", "rating"])
    #expect(observed == ["Book[1].title", "Book[1].pages", "Book[1].rating"])
    #expect(store.observations().isEmpty)
  }

  @Test func aWindowFollowsTheScreen() throws {
    let directory = try TemporaryDirectory()
    let path = directory.file("library.store")
    // snippet: observing-the-records-on-a-screen
    let store = try Store(at: path, models: Author.self, Book.self)
    try store.write { tx in
      for id in 1...100 as ClosedRange<Int64> {
        try tx.insert(Book(id: id, title: "Volume \(id)", pages: 300))
      }
    }

    let lines = Mutex<[String]>([])
    let window = try store.observe(\Book.title, ofEach: Array(1...20)) { key, change in
      lines.withLock { $0.append("\(key): \(change.new ?? "none")") }
    }
    try window.move(to: Array(11...30))
    try store.write { tx in
      try tx.set(\Book.title, to: "gone by", for: 5)
      try tx.set(\Book.title, to: "on the screen", for: 25)
    }
    store.waitForDelivery()
    // 25: on the screen
    window.cancel()
    // end
    #expect(lines.withLock { $0 } == ["25: on the screen"])
  }
}
