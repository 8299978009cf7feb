import ModelStore
import Synchronization
import Testing

@Suite(.tags(.unit)) struct LiveQueriesExample {
  @Test func aListFollowsTheStoreByIndices() throws {
    let directory = try TemporaryDirectory()
    let path = directory.file("library.store")
    // snippet: live-queries
    let store = try Store(at: path, models: Author.self, Book.self)
    try store.write { tx in
      try tx.insert(Book(id: 1, title: "Malafrena", pages: 369))
      try tx.insert(Book(id: 2, title: "Tehanu", pages: 226))
      try tx.insert(Book(id: 3, title: "Voices", pages: 341))
    }

    let live = try store.liveQuery(Book.where { $0.pages > 200 }.order { $0.title })
    let list = Mutex<[Book]>([])
    let log = Mutex<[String]>([])
    // The first event is the list as it is; nothing comes between it and the first change.
    let subscription = try live.observe(options: .initial) { changes in
      list.withLock { changes.apply(to: &$0) }
      if changes.isInitial { return }
      log.withLock { log in
        for deletion in changes.deletions { log.append("- \(deletion.index)") }
        for insertion in changes.insertions { log.append("+ \(insertion.index)") }
        for move in changes.moves { log.append("\(move.oldIndex) → \(move.newIndex)") }
        for update in changes.updates { log.append("\(update.newIndex) has other fields") }
      }
    }

    try store.write { tx in
      try tx.set(\Book.pages, to: 120, for: 1)
      try tx.set(\Book.title, to: "A Tehanu", for: 3)
      try tx.insert(Book(id: 4, title: "Gifts", pages: 274))
    }
    store.waitForDelivery()
    let titles = list.withLock { $0.map(\.title) }
    // titles: ["A Tehanu", "Gifts", "Tehanu"]
    // log: ["- 0", "+ 1", "2 → 0", "0 has other fields"]

    subscription.cancel()
    // end
    #expect(titles == ["A Tehanu", "Gifts", "Tehanu"])
    #expect(log.withLock { $0 } == ["- 0", "+ 1", "2 → 0", "0 has other fields"])
    #expect(live.keys(in: 0..<10) == [[.integer(3)], [.integer(4)], [.integer(2)]])
  }

  @Test func aChangeSetHasOtherForms() throws {
    let directory = try TemporaryDirectory()
    let path = directory.file("library.store")
    // snippet: live-queries-in-other-forms
    let store = try Store(at: path, models: Author.self, Book.self)
    try store.write { tx in
      try tx.insert(Book(id: 1, title: "Malafrena", pages: 369))
      try tx.insert(Book(id: 2, title: "Tehanu", pages: 226))
    }
    let live = try store.liveQuery(Book.all.order { $0.title })
    let log = Mutex<[String]>([])
    let subscription = try live.observe { changes in
      let batch = changes.batch()
      let undone = changes.inverse?.batch()
      log.withLock { log in
        log.append("delete \(batch.deletions), insert \(batch.insertions)")
        log.append("reload \(batch.reloads), afterwards \(batch.reloadsAfterwards)")
        for move in batch.moves { log.append("move \(move.from) to \(move.to)") }
        log.append("undo: delete \(undone?.deletions ?? [])")
      }
    }
    try store.write { tx in
      try tx.insert(Book(id: 3, title: "Voices", pages: 341))
      try tx.set(\Book.title, to: "A Tehanu", for: 2)
    }
    store.waitForDelivery()
    // delete [], insert [2]
    // reload [], afterwards [0]
    // move 1 to 0
    // undo: delete [2]
    subscription.cancel()
    // end
    #expect(
      log.withLock { $0 } == [
        "delete [], insert [2]", "reload [], afterwards [0]", "move 1 to 0", "undo: delete [2]",
      ])
  }
}
