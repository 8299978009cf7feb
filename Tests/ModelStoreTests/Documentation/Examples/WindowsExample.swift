import ModelStore
import Synchronization
import Testing

@Suite(.tags(.unit)) struct WindowsExample {
  @Test func aPartOfAResultSlidesAndIsMoved() throws {
    let directory = try TemporaryDirectory()
    let path = directory.file("library.store")
    // snippet: windows
    let store = try Store(at: path, models: Author.self, Book.self)
    try store.write { tx in
      for (id, title) in [(1, "Gifts"), (2, "Powers"), (3, "Tehanu"), (4, "Voices")] {
        try tx.insert(Book(id: Int64(id), title: title, pages: 300))
      }
    }

    let all = try store.liveQuery(Book.all.order { $0.title })
    let page = try store.liveQuery(Book.all.order { $0.title }.limit(2, offset: 1))
    let log = Mutex<[String]>([])
    let subscription = try page.observe { changes in
      log.withLock { log in
        for deletion in changes.deletions { log.append("- \(deletion.index) \(deletion.reason)") }
        for insertion in changes.insertions {
          log.append("+ \(insertion.index) \(insertion.reason)")
        }
      }
    }

    try store.write { tx in try tx.insert(Book(id: 5, title: "Always Coming Home", pages: 523)) }
    store.waitForDelivery()
    // log: ["- 1 slid", "+ 0 slid"]

    try page.moveWindow(offset: 3, limit: 2)
    store.waitForDelivery()
    let keys = page.keys(in: 0..<2)
    // keys: [[3], [4]]: Tehanu and Voices
    // end
    #expect(keys == [[.integer(3)], [.integer(4)]])
    #expect(
      log.withLock { $0 } == [
        "- 1 slid", "+ 0 slid", "- 0 slid", "- 1 slid", "+ 0 slid", "+ 1 slid",
      ])
    // snippet: windows-and-totals
    let label = Mutex("")
    let labelling = try store.observe(page, all) { _, _ in
      let first = page.window?.offset ?? 0
      label.withLock { $0 = "\(first + 1)–\(first + page.count) of \(all.count)" }
    }
    try store.write { tx in try tx.insert(Book(id: 6, title: "Worlds of Exile", pages: 370)) }
    store.waitForDelivery()
    // label: "4–5 of 6"

    labelling.cancel()
    subscription.cancel()
    // end
    #expect(label.withLock { $0 } == "4–5 of 6")
  }
}
