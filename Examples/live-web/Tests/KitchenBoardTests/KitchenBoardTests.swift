import Foundation
import ModelStore
import Testing

@testable import KitchenBoard

/// The server without a browser.
@Suite(.timeLimit(.minutes(5))) struct KitchenBoardTests {
  @Test("A page receives the board, then each commit by index")
  func receivesEachCommit() async throws {
    try await RunningKitchen.with { kitchen in
      let page = try await kitchen.events()
      var rows: [Ticket] = []
      var summaries: [[String]] = []
      func follow() async throws {
        let event = try #require(try await kitchen.next(of: page))
        try event.apply(to: &rows)
        summaries.append(event.summary)
      }
      try await follow()
      try await kitchen.store.write { tx in try tx.set(\Ticket.isUrgent, to: true, for: 6) }
      try await follow()
      try await kitchen.store.write { tx in
        try tx.delete(Ticket.self, 1)
        _ = try tx.insert(generatingKey: Ticket(dish: "Polenta", tableNumber: 3))
      }
      try await follow()
      #expect(summaries == [["all 7"], ["5 → 0", "0 isUrgent"], ["- 1", "+ 6"]])
      #expect(rows == (try await kitchen.store.fetch(Ticket.board)))
    }
  }

  @Test("A page that connects again receives one event for all that it missed")
  func resumes() async throws {
    try await RunningKitchen.with { kitchen in
      var rows: [Ticket] = []
      let snapshot = try #require(try await kitchen.next(of: try await kitchen.events()))
      try snapshot.apply(to: &rows)
      // More commits than the feed keeps events for.
      for count in 1...300 {
        try await kitchen.store.write { tx in
          try tx.set(\Ticket.portions, to: count % 12 + 1, for: Int64(count % 7 + 1))
        }
      }
      try await kitchen.store.write { tx in try tx.set(\Ticket.isUrgent, to: true, for: 7) }
      let page = try await kitchen.events(after: snapshot.id)
      var summaries: [String] = []
      let now = try await kitchen.store.fetch(Ticket.board)
      while rows != now {
        let event = try #require(try await kitchen.next(of: page))
        #expect(!event.isSnapshot)
        try event.apply(to: &rows)
        summaries += event.summary
      }
      #expect(summaries.contains("6 → 0"))
    }
  }

  @Test(
    "An id that leads nowhere brings the whole board",
    arguments: ["", "abc", "-1", "9999999999", "99999999999999999999", "1"])
  func unknownPosition(id: String) async throws {
    try await RunningKitchen.with { kitchen in
      // Position 1 lies before everything that is kept.
      try await kitchen.store.write { tx in try tx.set(\Ticket.portions, to: 5, for: 1) }
      try await kitchen.store.changeJournal.trim(JournalRetention(maxEntryCount: 1))
      let page = try await kitchen.events(after: id)
      let event = try #require(try await kitchen.next(of: page))
      #expect(event.summary == ["all 7"])
    }
  }

  @Test("A page that is cut at random never misses a change")
  func randomCuts() async throws {
    let seed = UInt64.random(in: 1...UInt64.max)
    var random = SplitMix(seed: seed)
    try await RunningKitchen.with { kitchen in
      var rows: [Ticket] = []
      var id: String?
      var snapshotCount = 0
      for round in 0..<60 {
        let page = try await kitchen.events(after: id)
        for _ in 0..<Int.random(in: 1...6, using: &random) {
          try await kitchen.store.writeAtRandom(&random)
        }
        // Some events, then a cut. On each tenth connection, all of them.
        let board = try await kitchen.store.fetch(Ticket.board)
        var count = round % 10 == 9 ? Int.max : Int.random(in: 0...3, using: &random)
        while rows != board, count > 0 {
          let event = try #require(try await kitchen.next(of: page), "seed \(seed)")
          if id != nil, event.isSnapshot { snapshotCount += 1 }
          try event.apply(to: &rows)
          id = event.id
          count -= 1
        }
      }
      #expect(snapshotCount == 0, "seed \(seed)")
    }
  }

  @Test("A form that is refused receives the violations of each field")
  func violations() async throws {
    try await RunningKitchen.with { kitchen in
      struct Refusal: Decodable, Equatable {
        let fields: [String: [String]]
      }
      func fields(_ answer: (status: Int, head: String, body: String)) throws -> Refusal {
        try JSONDecoder().decode(Refusal.self, from: Data(answer.body.utf8))
      }
      let empty = try await kitchen.request("POST", "/tickets", #"{"dish":"","portions":13}"#)
      #expect(empty.status == 422)
      #expect(
        Set(try fields(empty).fields.keys) == ["dish", "tableNumber", "portions"])
      let twice = try await kitchen.request(
        "POST", "/tickets", #"{"dish":"Onion soup","tableNumber":9,"portions":1}"#)
      #expect(twice.status == 422)
      #expect(Set(try fields(twice).fields.keys) == ["dish", "tableNumber"])
      for id in 1...3 {
        let answer = try await kitchen.request("PATCH", "/tickets/\(id)", #"{"isUrgent":true}"#)
        #expect(answer.status == 200)
      }
      let urgent = try await kitchen.request("PATCH", "/tickets/4", #"{"isUrgent":true}"#)
      #expect(urgent.status == 422)
      #expect(Array(try fields(urgent).fields.keys) == ["isUrgent"])
      let unknown = try await kitchen.request("PATCH", "/tickets/99", #"{"isUrgent":true}"#)
      #expect(unknown.status == 404)
    }
  }

  @Test("Undo takes back the last write of the page, and only that")
  func undo() async throws {
    try await RunningKitchen.with { kitchen in
      _ = try await kitchen.request("PATCH", "/tickets/2", #"{"stage":"ready"}"#)
      try await kitchen.store.write { tx in try tx.set(\Ticket.portions, to: 9, for: 3) }
      let answer = try await kitchen.request("POST", "/undo", "{}")
      #expect(answer.body == #"{"undone":true}"#)
      let tickets = try await kitchen.store.fetch(Ticket.board)
      #expect(tickets[1].stage == .cooking)
      #expect(tickets[2].portions == 9)
    }
  }

  @Test("A write of another type than JSON is refused, so that other sites cannot send it")
  func otherTypes() async throws {
    try await RunningKitchen.with { kitchen in
      let answer = try await kitchen.request("POST", "/undo", "{}", type: "text/plain")
      #expect(answer.status == 415)
    }
  }

  @Test("Each file of the page has the strict policy")
  func policy() async throws {
    try await RunningKitchen.with { kitchen in
      for path in ["/", "/board.css", "/board.js", "/icon.svg"] {
        let answer = try await kitchen.request("GET", path)
        #expect(answer.status == 200)
        #expect(answer.head.lowercased().contains("content-security-policy: default-src 'none'"))
        #expect(!answer.body.contains("https://"))
      }
    }
  }

  @Test("The health of the server is that of the store")
  func health() async throws {
    try await RunningKitchen.with { kitchen in
      let answer = try await kitchen.request("GET", "/health")
      #expect(answer.status == 200)
      #expect(answer.body == #"{"isWritable":true}"#)
    }
  }

  @Test("1,000 pages at once receive the board and each commit, and leave nothing behind")
  func thousandPages() async throws {
    var limit = rlimit()
    getrlimit(__rlimit_resource_t(RLIMIT_NOFILE.rawValue), &limit)
    limit.rlim_cur = min(limit.rlim_max, 8192)
    setrlimit(__rlimit_resource_t(RLIMIT_NOFILE.rawValue), &limit)
    try await RunningKitchen.with { kitchen in
      let port = kitchen.port
      let pages = try await blocking {
        try (0..<1000).map { _ in try PageConnection.events(port: port) }
      }
      let boards = try await blocking { try pages.map { try $0.next()?.summary } }
      #expect(boards == Array(repeating: ["all 7"], count: 1000))
      #expect(kitchen.feed.pageCount == 1000)
      try await kitchen.store.write { tx in try tx.set(\Ticket.isUrgent, to: true, for: 7) }
      let events = try await blocking { try pages.map { try $0.next()?.summary } }
      #expect(events == Array(repeating: ["6 → 0", "0 isUrgent"], count: 1000))
    }
  }

  @Test("A page that leaves is forgotten")
  func leaves() async throws {
    try await RunningKitchen.with { kitchen in
      var page: PageConnection? = try await kitchen.events()
      _ = try await kitchen.next(of: page!)
      #expect(kitchen.feed.pageCount == 1)
      page = nil
      while kitchen.feed.pageCount > 0 { await Task.yield() }
    }
  }

  @Test("A shutdown ends the streams, then the server, then the store")
  func shutdown() async throws {
    try await RunningKitchen.with { kitchen in
      let page = try await kitchen.events()
      _ = try await kitchen.next(of: page)
      let end = Task { try await kitchen.next(of: page) }
      try await kitchen.shutDown()
      #expect(try await end.value == nil)
      #expect(page.hasEnded)
      await #expect(throws: StoreError.self) { try await kitchen.store.count(Ticket.all) }
    }
  }
}

/// Random numbers from a seed.
struct SplitMix: RandomNumberGenerator {
  private var state: UInt64

  init(seed: UInt64) { state = seed }

  mutating func next() -> UInt64 {
    state &+= 0x9E37_79B9_7F4A_7C15
    var mixed = state
    mixed = (mixed ^ (mixed >> 30)) &* 0xBF58_476D_1CE4_E5B9
    mixed = (mixed ^ (mixed >> 27)) &* 0x94D0_49BB_1331_11EB
    return mixed ^ (mixed >> 31)
  }
}

extension Store {
  /// Changes, adds or serves a ticket. What a rule refuses changes nothing.
  func writeAtRandom(_ random: inout SplitMix) async throws {
    let tickets = try await fetch(Ticket.board)
    let kind = Int.random(in: 0..<5, using: &random)
    let number = Int.random(in: 1...1000, using: &random)
    let table = Int.random(in: 1...30, using: &random)
    let id = tickets.randomElement(using: &random)?.id
    do {
      try await write { tx in
        switch (kind, id) {
        case (0, let id?) where tickets.count > 5: try tx.delete(Ticket.self, id)
        case (1, let id?), (2, let id?):
          let isUrgent = tickets.first { $0.id == id }?.isUrgent ?? false
          try tx.set(\Ticket.isUrgent, to: !isUrgent, for: id)
        case (3, let id?): try tx.set(\Ticket.portions, to: number % 12 + 1, for: id)
        default:
          _ = try tx.insert(generatingKey: Ticket(dish: "Dish \(number)", tableNumber: table))
        }
      }
    } catch let error as StoreError where error.code == .rejected {
      // Three urgent tickets are the most, for example.
    }
  }
}
