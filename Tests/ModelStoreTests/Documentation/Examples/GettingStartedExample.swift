import ModelStore
import Testing

// snippet: getting-started-model
struct Note: CodableModel {
  var id: Int64
  var title: String
  var isDone = false

  var key: Int64 { id }

  static let definition = ModelDefinition<Note>(
    "Note", key: \.id,
    fields: [
      .init("id", \.id),
      .init("title", \.title, rules: [.notBlank, .length(...200)]),
      .init("isDone", \.isDone),
    ])
}
// end

@Suite(.tags(.unit)) struct GettingStartedExample {
  @Test func theFirstProgramWritesQueriesAndObserves() throws {
    let directory = try TemporaryDirectory()
    let path = directory.file("notes.store")
    let printed = Recorder<String>()
    @Sendable func print(_ line: Any) { printed.add("\(line)") }
    // snippet: getting-started-open
    let store = try Store(at: path, models: Note.self)
    // end
    // snippet: getting-started-write
    try store.write { tx in
      try tx.upsert(Note(id: 1, title: "Buy bread"))
      try tx.upsert(Note(id: 2, title: "Call Ann"))
      try tx.upsert(Note(id: 3, title: "Post the letter", isDone: true))
    }
    // end
    // snippet: getting-started-query
    let open = Note.where { $0.isDone == false }.order { $0.title }
    print(try store.fetch(open).map(\.title))
    // end
    // snippet: getting-started-observe
    let live = try store.liveQuery(open)
    let subscription = try live.observe { changes in
      for deletion in changes.deletions { print("- \(deletion.index)") }
      for insertion in changes.insertions {
        print("+ \(insertion.index) \(insertion.record.title)")
      }
    }
    try store.write { tx in
      try tx.set(\Note.isDone, to: true, for: 1)
      try tx.upsert(Note(id: 4, title: "Water the plants"))
    }
    store.waitForDelivery()
    subscription.cancel()
    // end
    // snippet: getting-started-refusal
    do {
      try store.write { tx in try tx.upsert(Note(id: 5, title: " ")) }
    } catch let error as StoreError where error.code == .rejected {
      for violation in error.violations { print("\(violation.rule): \(violation.message)") }
    }
    // end
    #expect(
      printed.events == [
        "[\"Buy bread\", \"Call Ann\"]", "- 0", "+ 1 Water the plants",
        "Note.title.notBlank: must not be empty",
      ])
  }
}
