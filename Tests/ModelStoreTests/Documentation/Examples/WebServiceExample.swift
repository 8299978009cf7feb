import Foundation
import ModelStore
import Synchronization
import Testing

@Suite(.tags(.unit)) struct WebServiceExample {
  /// The end of a connection that the article leaves to your framework.
  private struct Socket: Sendable {
    let messages: AsyncStream<Data>
    /// What the client asks for.
    let requests: AsyncStream<String>
    private let continuation: AsyncStream<Data>.Continuation
    private let asking: AsyncStream<String>.Continuation

    init() {
      (messages, continuation) = AsyncStream.makeStream()
      (requests, asking) = AsyncStream.makeStream()
    }

    func ask(for request: String) { asking.yield(request) }

    func send(_ message: Data) async throws { continuation.yield(message) }
  }

  @Test func handlersReadAndWriteWithoutBlocking() async throws {
    let directory = try TemporaryDirectory()
    let path = directory.file("library.store")
    // snippet: web-open
    var configuration = StoreConfiguration()
    configuration.changeJournal = .full  // for undo
    let store = try await Store(
      at: path, models: Author.self, Book.self, configuration: configuration)
    // end
    // snippet: web-handlers
    struct BookHandlers: Sendable {
      let store: Store

      // GET /books?title=…
      func books(titled prefix: String) async throws -> [Book] {
        let matching = Book.where { $0.title.hasPrefix(prefix) }
        return try await store.fetch(matching.order { $0.title }.limit(50))
      }

      // GET /books/:id
      func book(_ id: Int64) async throws -> Book? {
        try await store.find(Book.self, id)
      }

      // POST /books/:id/rating
      func rate(_ id: Int64, _ rating: Int, by user: String) async throws {
        try await store.write { tx in
          tx.sign(author: user)
          try tx.set(\Book.rating, to: rating, for: id)
        }
      }

      // POST /undo
      func undo(by user: String) async throws -> Bool {
        try await store.undo(by: user) != nil
      }
    }
    // end
    // snippet: web-errors
    func status(for error: any Error) -> Int {
      if error is CancellationError { return 499 }
      guard let error = error as? StoreError else { return 500 }
      return switch error.code {
      case .recordNotFound: 404
      case .conflict: 409
      case .rejected where error.violations.contains(where: { $0.kind == .unique }): 409
      case .rejected: 422  // `error.violations` lists every rule that the record breaks
      case .busy, .shuttingDown, .ledgerUnavailable: 503
      default: 500
      }
    }
    // end
    try await store.write { tx in
      try tx.insert(Book(id: 1, title: "Gifts", pages: 274))
      _ = try tx.insert(Book(id: 2, title: "Voices", pages: 341))
    }
    let handlers = BookHandlers(store: store)
    #expect(try await handlers.books(titled: "V").map(\.id) == [2])
    try await handlers.rate(1, 5, by: "ursula")
    #expect(try await handlers.book(1)?.rating == 5)
    #expect(try await handlers.undo(by: "someone else") == false)
    #expect(try await handlers.undo(by: "ursula"))
    #expect(try await handlers.book(1)?.rating == nil)
    var statuses: [Int] = []
    for (id, rating) in [(Int64(1), 9), (3, 5)] {
      do {
        try await handlers.rate(id, rating, by: "ursula")
      } catch {
        statuses.append(status(for: error))
      }
    }
    let request = Task {
      withUnsafeCurrentTask { $0?.cancel() }
      return try await handlers.books(titled: "")
    }
    do {
      _ = try await request.value
    } catch {
      statuses.append(status(for: error))
    }
    #expect(statuses == [422, 404, 499])
    let twice = await #expect(throws: StoreError.self) {
      try await store.write { tx in _ = try tx.insert(Book(id: 1, title: "Powers", pages: 502)) }
    }
    #expect(twice.map { status(for: $0) } == 409)
    #expect(twice?.violations.map(\.rule) == ["Book.key"])
  }

  @Test func aClientFollowsALiveQuery() async throws {
    let directory = try TemporaryDirectory()
    let store = try await Store(at: directory.file("library.store"), models: Author.self, Book.self)
    try await store.write { tx in
      try tx.insert(Book(id: 1, title: "Gifts", pages: 274))
      _ = try tx.insert(Book(id: 2, title: "Voices", pages: 341))
    }
    // snippet: web-live-query
    @Sendable func follow(_ socket: Socket) async throws {
      let live = try await store.liveQuery(Book.all.order { $0.title })
      let encoder = JSONEncoder()
      encoder.dateEncodingStrategy = .iso8601
      let events = try await live.changes(options: .initial, coalescing: .latest)
      for try await changes in events {
        try await socket.send(encoder.encode(changes))
      }
    }
    // end
    // snippet: web-client
    struct Row: Decodable {
      let id: Int64
      let title: String
    }

    struct Event: Decodable {
      struct Deletion: Decodable { let index: Int }
      struct Insertion: Decodable { let index: Int, record: Row }
      struct Move: Decodable { let oldIndex: Int, newIndex: Int, record: Row }
      struct Replacement: Decodable { let newIndex: Int, record: Row }

      let isInitial: Bool
      let deletions: [Deletion], insertions: [Insertion], moves: [Move]
      let updates: [Replacement], refreshes: [Replacement]

      func apply(to rows: inout [Row]) {
        if isInitial { rows = [] }
        let leaving = Set(deletions.map(\.index) + moves.map(\.oldIndex))
        rows = rows.indices.filter { !leaving.contains($0) }.map { rows[$0] }
        let arriving =
          insertions.map { ($0.index, $0.record) } + moves.map { ($0.newIndex, $0.record) }
        for (index, row) in arriving.sorted(by: { $0.0 < $1.0 }) { rows.insert(row, at: index) }
        for change in updates + refreshes { rows[change.newIndex] = change.record }
      }
    }
    // end
    let socket = Socket()
    let connection = Task { try await follow(socket) }
    let rows = Mutex<[Row]>([])
    func receive(until titles: [String]) async throws {
      for await message in socket.messages {
        let event = try JSONDecoder().decode(Event.self, from: message)
        let shown = rows.withLock { rows in
          event.apply(to: &rows)
          return rows.map(\.title)
        }
        if shown == titles { return }
      }
    }
    try await receive(until: ["Gifts", "Voices"])
    try await store.write { tx in
      try tx.delete(Book.self, 2)
      try tx.set(\Book.title, to: "The Gifts", for: 1)
      _ = try tx.insert(Book(id: 3, title: "Powers", pages: 400))
    }
    try await receive(until: ["Powers", "The Gifts"])
    // What another program writes without a journal is a reset.
    try PlainDatabase(store.path).execute("UPDATE Book SET title = 'Tales' WHERE id = 3")
    try await store.refresh()
    try await receive(until: ["Tales", "The Gifts"])
    connection.cancel()
    try await connection.value
  }

  @Test func aClientThatLostAMessageReceivesAllRowsAgain() async throws {
    let directory = try TemporaryDirectory()
    let store = try await Store(at: directory.file("library.store"), models: Author.self, Book.self)
    // snippet: web-resync
    struct Message: Encodable {
      let number: Int
      let changes: QueryChanges<Book>
    }

    @Sendable func stream(_ live: LiveQuery<Book>, to socket: Socket) async throws {
      let encoder = JSONEncoder()
      var number = 0
      for try await changes in try await live.changes(options: .initial, coalescing: .latest) {
        try await socket.send(encoder.encode(Message(number: number, changes: changes)))
        number += 1
      }
    }

    @Sendable func serve(_ socket: Socket) async throws {
      let live = try await store.liveQuery(Book.all.order { $0.title })
      var sending = Task { try await stream(live, to: socket) }
      for await request in socket.requests where request == "resync" {
        sending.cancel()
        _ = await sending.result  // No message of the first stream follows.
        sending = Task { try await stream(live, to: socket) }
      }
      sending.cancel()
    }
    // end
    struct Received: Decodable, Equatable {
      struct Changes: Decodable, Equatable { let isInitial: Bool, newCount: Int }

      let number: Int
      let changes: Changes
    }
    let socket = Socket()
    let connection = Task { try await serve(socket) }
    func next() async throws -> Received? {
      for await message in socket.messages {
        return try JSONDecoder().decode(Received.self, from: message)
      }
      return nil
    }
    #expect(try await next() == Received(number: 0, changes: .init(isInitial: true, newCount: 0)))
    try await store.write { tx in _ = try tx.insert(Book(id: 1, title: "Gifts", pages: 274)) }
    #expect(try await next() == Received(number: 1, changes: .init(isInitial: false, newCount: 1)))
    socket.ask(for: "resync")
    #expect(try await next() == Received(number: 0, changes: .init(isInitial: true, newCount: 1)))
    connection.cancel()
    try await connection.value
  }
}
