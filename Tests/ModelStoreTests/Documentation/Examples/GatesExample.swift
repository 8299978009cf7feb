import ModelStore
import Synchronization
import Testing

@Suite(.tags(.unit)) struct GatesExample {
  @Test func aFormIsCheckedWhileItIsEdited() throws {
    let directory = try TemporaryDirectory()
    let path = directory.file("library.store")
    // snippet: gates
    let store = try Store(at: path, models: Author.self, Book.self)
    try store.write { tx in try tx.insert(Author(id: 1, name: "Ursula K. Le Guin")) }

    // What is being edited, in no store yet.
    let draft = LiveDraft(Book(id: 1, title: "", pages: 0, authorID: 1))

    // Its rules, all at once, for a first look.
    let problems = try draft.value.violations().map { "\($0.fields[0]) \($0.message)" }
    // title must not be empty; pages must be 1 or greater

    // Whether it may be sent, kept current while it is edited and while the author changes.
    let gate = try Gate(
      GateCheck("title", of: draft, \.title, "must not be empty") { !$0.isEmpty },
      GateCheck("pages", of: draft, \.pages, "must be positive") { $0 > 0 },
      store.check("author", \Author.name, of: 1, "must be known") { $0 != "Anonymous" })
    let verdicts = Mutex<[String]>([])
    let watching = gate.observe { verdict in
      let text = verdict.failed.map { "\($0.name) \($0.message)" } ?? "may be sent"
      verdicts.withLock { $0.append(text) }
    }
    draft.title = "Gifts"
    draft.pages = 274

    // Only if it is met when the transaction begins.
    try store.write(if: gate) { tx in try tx.insert(draft.value) }
    // verdicts: "pages must be positive", "may be sent"
    watching.cancel()
    // end
    #expect(problems == ["title must not be empty", "pages must be 1 or greater"])
    #expect(verdicts.withLock { $0 } == ["pages must be positive", "may be sent"])
    #expect(try store.find(Book.self, 1)?.title == "Gifts")
  }
}
