import Synchronization
import Testing

@testable import ModelStore

/// Gates whose values cannot be read, compare themselves, or add up inexactly.
@Suite(.tags(.unit)) struct GateReadingTests {
  enum Kind: String, ColumnValue { case plain, odd }

  struct Ticket: Model, Hashable {
    var id: Int64
    var title: String
    var kind: Kind

    static let definition = ModelDefinition<Ticket>(
      "Ticket", key: \.id,
      fields: [.init("id", \.id), .init("title", \.title), .init("kind", \.kind)])

    var key: Int64 { id }

    init(id: Int64, title: String, kind: Kind) {
      (self.id, self.title, self.kind) = (id, title, kind)
    }

    init(row: borrowing RowView) throws {
      id = try row.decode(at: 0)
      title = try row.decode(at: 1)
      kind = try row.decode(at: 2)
    }

    func encode(to arguments: inout ArgumentWriter) throws {
      try id.encode(to: &arguments, at: 0)
      try title.encode(to: &arguments, at: 1)
      try kind.encode(to: &arguments, at: 2)
    }
  }

  @Test func aValueThatCannotBeReadMeetsNoConditionAndHidesNoOtherChange() throws {
    let directory = try TemporaryDirectory()
    let problems = Recorder<StoreError.Code>()
    let store = try Store(
      at: directory.file("t.store"), models: Ticket.self, onError: { problems.add($0.code) })
    try store.write { tx in try tx.insert(Ticket(id: 1, title: "T", kind: .plain)) }
    let gate = try Gate(
      store.check("kind", \Ticket.kind, of: 1) { $0 == .plain },
      store.check("title", \Ticket.title, of: 1) { !$0.isEmpty })
    let heard = Recorder<[String?]>()
    let watching = gate.observe { heard.add([$0.failed?.name] + $0.changed) }
    func write(_ sql: SQLText) throws {
      try store.write { tx in try tx.execute(sql) }
      store.waitForDelivery()
    }
    try write("UPDATE Ticket SET title = '', kind = 'bogus'")
    #expect(gate.latest?.isValid == false)
    try write("UPDATE Ticket SET kind = 'plain'")
    try write("UPDATE Ticket SET title = 'T'")
    #expect(
      heard.taken() == [["kind", "kind", "title"], ["title", "kind"], [nil, "title"]])
    #expect(problems.events == [.invalidValue])
    watching.cancel()
  }

  @Test func weightsAddUpToTheSameSumWhateverChangedLast() throws {
    struct Form: Equatable, Sendable { var a = 0, b = 0, c = 0 }
    let form = LiveDraft(Form())
    let gate = try Gate(
      GateCheck("a", of: form, \.a) { $0 > 0 }.weighing(0.7),
      GateCheck("b", of: form, \.b) { $0 > 0 }.weighing(0.1),
      GateCheck("c", of: form, \.c) { $0 > 0 }.weighing(0.2), reduction: .weight(atLeast: 1))
    let heard = Recorder<Bool>()
    let watching = gate.observe { heard.add($0.isValid) }
    form.value = Form(a: 1, b: 1, c: 1)
    form.c = 2
    form.b = 2
    form.a = 2
    #expect(heard.taken() == [true, true, true, true])
    #expect(try gate.validate().isValid)
    form.b = 0
    #expect(heard.taken() == [false])
    watching.cancel()
  }

  @Test func aGateOverRecordsOfAnotherStoreGuardsAnAsynchronousWrite() async throws {
    let shop = try WriteCycleTests.Shop()
    let other = try WriteCycleTests.Shop()
    let store = shop.store
    let gate = try await Gate(
      store.check("own", \Album.title, of: 1) { $0 == "So What" },
      other.store.check("other", \Album.title, of: 2) { $0 == "Red" })
    func write() async throws -> Int {
      try await store.write(if: gate) { tx in
        try tx.set(\Album.title, to: "Green", for: 1)
        return 7
      }
    }
    func refusal() async throws -> [String] {
      do {
        return ["written \(try await write())"]
      } catch let error as StoreError {
        return error.violations.map(\.rule)
      }
    }
    #expect(try await refusal() == ["other"])
    #expect(try await store.find(Album.self, 1)?.title == "So What")
    try await other.store.write { tx in try tx.set(\Album.title, to: "Red", for: 2) }
    #expect(try await refusal() == ["written 7"])
    #expect(try await refusal() == ["own"])
    #expect(try await store.find(Album.self, 1)?.title == "Green")
  }

  @Test func ofChecksWithOneNameTheErrorDescribesTheFailedOne() throws {
    let shop = try WriteCycleTests.Shop()
    let store = shop.store
    let gate = try Gate(
      store.check("title", \Album.title, of: 1) { !$0.isEmpty },
      store.check("title", \Album.title, of: 2) { $0 == "Red" })
    let error = failure { try store.write(if: gate) { _ in } }
    #expect(error?.violations.map(\.key) == [[.integer(2)]])
  }

  /// Asks the gate when it is compared, and the draft that it is part of when it goes.
  private final class Image: Equatable, Sendable {
    private let seen: Recorder<String>
    let draft: Mutex<LiveDraft<Form>?> = Mutex(nil)
    let gate: Mutex<Gate?> = Mutex(nil)

    init(_ seen: Recorder<String>) { self.seen = seen }

    static func == (left: Image, right: Image) -> Bool {
      if let gate = left.gate.withLock({ $0 }) {
        left.seen.add("compared, \(gate.latest == nil)")
      }
      return left === right
    }

    deinit {
      if let draft = draft.withLock({ $0 }) { seen.add("gone from \(draft.title)") }
    }
  }

  private struct Form: Sendable {
    var title = "T"
    var image: Image
  }

  @Test func aReleasedValueMayReadTheDraftItWasPartOf() {
    let seen = Recorder<String>()
    let draft = LiveDraft(Form(image: Image(seen)))
    draft.image.draft.withLock { $0 = draft }
    draft.image = Image(seen)
    #expect(seen.events == ["gone from T"])
  }

  @Test func aValueMayReadTheGateWhileItIsCompared() throws {
    let seen = Recorder<String>()
    let draft = LiveDraft(Form(image: Image(seen)))
    let gate = try Gate(GateCheck("image", of: draft, \.image) { _ in true })
    let first = draft.image
    first.gate.withLock { $0 = gate }
    draft.image = Image(seen)
    first.gate.withLock { $0 = nil }
    #expect(seen.events == ["compared, true"])
    #expect(gate.latest?.isValid == true)
  }
}
