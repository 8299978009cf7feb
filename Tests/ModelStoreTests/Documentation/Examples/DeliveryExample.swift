import ModelStore
import Synchronization
import Testing

@Suite(.tags(.unit)) struct DeliveryExample {
  private static func library(_ directory: TemporaryDirectory) throws -> Store {
    let store = try Store(at: directory.file("library.store"), models: Author.self, Book.self)
    try store.write { tx in
      try tx.insert(Book(id: 1, title: "Dispossessed", pages: 341))
      try tx.insert(Book(id: 2, title: "Malafrena", pages: 369))
    }
    return store
  }

  @Test func theLatestIsEnoughForAView() throws {
    let directory = try TemporaryDirectory()
    let store = try Self.library(directory)
    // snippet: delivery-backlog
    let lines = Mutex<[String]>([])
    let subscription = try store.observe(.field(\Book.title, of: 1), coalescing: .latest) {
      change in
      lines.withLock { $0.append("\(change.old ?? "none") → \(change.new ?? "none")") }
    }

    subscription.pause()
    for title in ["The", "The Dispossessed: A Novel", "The Dispossessed"] {
      try store.write { tx in try tx.set(\Book.title, to: title, for: 1) }
    }
    subscription.resume()
    store.waitForDelivery()
    // Dispossessed → The Dispossessed
    // end
    #expect(lines.withLock { $0 } == ["Dispossessed → The Dispossessed"])
    subscription.cancel()
  }

  @Test func theAuthorOfAChangeCanBeExcluded() throws {
    let directory = try TemporaryDirectory()
    let store = try Self.library(directory)
    // snippet: delivery-suppressing
    let shown = Mutex<[[SQLValue]]>([])
    let shelf = try store.liveQuery(Book.all.order { $0.title })
    let view = try shelf.observe(options: .initial) { changes in
      shown.withLock { $0 = changes.new.map(\.self) }
    }
    // The user drags the book out of the view, which shows it at once.
    store.waitForDelivery()
    shown.withLock { $0.removeAll { $0 == [.integer(2)] } }
    try store.write(suppressing: [view]) { tx in try tx.delete(Book.self, 2) }
    // end
    store.waitForDelivery()
    #expect(shown.withLock { $0 } == [[.integer(1)]])
    #expect(shelf.count == 1)
    view.cancel()
  }

  @Test func anActorReceivesEventsInItsOwnIsolation() async throws {
    let directory = try TemporaryDirectory()
    let store = try Self.library(directory)
    // snippet: delivery-actor
    actor Reader {
      var title: String?
    }
    let reader = Reader()
    let subscription = try await store.changes(of: .field(\Book.title, of: 1), coalescing: .latest)
      .deliver(to: reader) { reader, change in reader.title = change.new }
    // end
    try await store.write { tx in try tx.set(\Book.title, to: "The Dispossessed", for: 1) }
    while await reader.title == nil { await Task.yield() }
    #expect(await reader.title == "The Dispossessed")
    subscription.cancel()
  }

  @MainActor private final class Label {
    var text = ""
  }

  @MainActor @Test func theMainActorReceivesEvents() async throws {
    let directory = try TemporaryDirectory()
    let store = try Self.library(directory)
    let label = Label()
    // snippet: delivery-main-actor
    let subscription = try await store.changes(of: .field(\Book.title, of: 1), coalescing: .latest)
      .deliver(to: MainActor.shared) { [weak label] change in label?.text = change.new ?? "" }
    // end
    try await store.write { tx in try tx.set(\Book.title, to: "Always Coming Home", for: 1) }
    while label.text != "Always Coming Home" { await Task.yield() }
    subscription.cancel()
    try await store.write { tx in try tx.set(\Book.title, to: "Gifts", for: 1) }
    await store.waitForDelivery()
    await Task.yield()
    #expect(label.text == "Always Coming Home")
  }

  @Test func aWriteWaitsForSynchronousObservers() throws {
    let directory = try TemporaryDirectory()
    let store = try Self.library(directory)
    // snippet: delivery-synchronous
    let index = Mutex<[Int64: String]>([:])
    let subscription = try store.observe(
      .field(\Book.title, of: 1), options: [.initial, .synchronous]
    ) { change in index.withLock { $0[1] = change.new } }
    try store.write { tx in try tx.set(\Book.title, to: "Always Coming Home", for: 1) }
    let title = index.withLock { $0[1] }
    // Always Coming Home
    // end
    #expect(title == "Always Coming Home")
    subscription.cancel()
  }

  @Test func everyObserverReceivesACommitBeforeTheReplyToIt() throws {
    let directory = try TemporaryDirectory()
    let store = try Self.library(directory)
    // snippet: writing-inside-observers
    let lines = Mutex<[String]>([])
    let tidy = try store.observe(\Book.title, of: 1) { change in
      guard let title = change.new, title.hasSuffix("  ") else { return }
      lines.withLock { $0.append("tidies") }
      do {
        try store.write { tx in try tx.set(\Book.title, to: String(title.dropLast(2)), for: 1) }
      } catch {
        lines.withLock { $0.append("\(error)") }
      }
    }
    let reader = try store.observe(\Book.title, of: 1) { change in
      lines.withLock { $0.append("[\(change.new ?? "none")]") }
    }
    try store.write { tx in try tx.set(\Book.title, to: "The Tombs of Atuan  ", for: 1) }
    // tidies
    // [The Tombs of Atuan  ]
    // [The Tombs of Atuan]
    // end
    for _ in 0..<2 { store.waitForDelivery() }
    #expect(lines.withLock { $0 } == ["tidies", "[The Tombs of Atuan  ]", "[The Tombs of Atuan]"])
    for subscription in [tidy, reader] { subscription.cancel() }
  }

  @Test func callbacksThatNeverAgreeAreStopped() throws {
    let directory = try TemporaryDirectory()
    let store = try Self.library(directory)
    // snippet: writing-inside-observers-for-ever
    let failures = Mutex<[StoreError.Code]>([])
    let restless = try store.observe(\Book.pages, of: 1) { change in
      do {
        try store.write { tx in try tx.set(\Book.pages, to: (change.new ?? 0) + 1, for: 1) }
      } catch let error as StoreError {
        failures.withLock { $0.append(error.code) }
      } catch {}
    }
    try store.write { tx in try tx.set(\Book.pages, to: 1, for: 1) }
    // [.notificationCycle], and 64 pages
    // end
    for _ in 0..<66 { store.waitForDelivery() }
    #expect(failures.withLock { $0 } == [.notificationCycle])
    #expect(try store.find(Book.self, 1)?.pages == 64)
    restless.cancel()
  }
}
