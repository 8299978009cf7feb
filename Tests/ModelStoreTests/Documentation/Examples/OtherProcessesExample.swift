import Glibc
import ModelStore
import Synchronization
import Testing

@Suite(.tags(.process), .timeLimit(.minutes(30))) struct OtherProcessesExample {
  @Test(SQLiteShell.isNeeded) func aCommitOfAnotherProgramReachesALiveQuery() throws {
    let directory = try TemporaryDirectory()
    let path = directory.file("library.store")
    // snippet: other-processes
    let store = try Store(at: path, models: Author.self, Book.self)
    try store.write { tx in
      try tx.insert(Book(id: 1, title: "Malafrena", pages: 369))
    }
    let live = try store.liveQuery(Book.all.order { $0.title })
    let log = Mutex<[String]>([])
    let subscription = try live.observe { changes in
      log.withLock { log in
        for deletion in changes.deletions { log.append("- \(deletion.index)") }
        for insertion in changes.insertions {
          log.append("+ \(insertion.index) \(insertion.record.title)")
        }
      }
    }

    // Meanwhile, in a terminal:
    // sqlite3 library.store "INSERT INTO Book(id, title, pages) VALUES (2, 'Gifts', 274)"

    // log: ["+ 0 Gifts"]
    // end
    let shell = try SQLiteShell(path)
    try shell.run("INSERT INTO Book(id, title, pages) VALUES (2, 'Gifts', 274)")
    while log.withLock({ $0.isEmpty }) { sched_yield() }
    #expect(log.withLock { $0 } == ["+ 0 Gifts"])
    subscription.cancel()
  }
}
