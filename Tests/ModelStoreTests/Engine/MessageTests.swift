import Testing

@testable import ModelStore

/// What errors say: what failed, where, and what to do.
@Suite(.tags(.unit)) struct MessageTests {
  struct Sample: Model {
    var id: Int64
    var length: Double
    var note: String?
    var doubled: Double { length * 2 }

    static let definition = ModelDefinition<Sample>(
      "Sample", key: \.id,
      fields: [.init("id", \.id), .init("length", \.length), .init("note", \.note)])

    var key: Int64 { id }

    init(id: Int64, length: Double, note: String? = nil) {
      self.id = id
      self.length = length
      self.note = note
    }

    init(row: borrowing RowView) throws {
      id = try row.decode(at: 0)
      length = try row.decode(at: 1)
      note = try row.decode(at: 2)
    }

    func encode(to arguments: inout ArgumentWriter) throws {
      try id.encode(to: &arguments, at: 0)
      try length.encode(to: &arguments, at: 1)
      try note.encode(to: &arguments, at: 2)
    }
  }

  private let directory: TemporaryDirectory
  private let store: Store

  init() throws {
    directory = try TemporaryDirectory()
    store = try Store(at: directory.file("a.store"), models: Sample.self)
  }

  @Test func theErrorForNaNNamesItsField() throws {
    let refused = failure {
      try store.write { tx in _ = try tx.insert(Sample(id: 1, length: .nan)) }
    }
    #expect(
      refused?.description
        == "invalidValue: Sample.length: the value cannot be stored: NaN cannot be stored."
    )
    #expect(refused?.field == "length")
  }

  @Test func theErrorForATooLongTextSaysSo() throws {
    let code = ResultCode.tooBig.rawValue
    let error = try store.engine.connections.writer.sync { writer in
      SQLiteError(code: code, database: writer.connection.handle)
    }
    #expect(StoreError(error).message.contains("(string or blob too big)"))
  }

  @Test func aComputedPropertyIsNamedByItsType() throws {
    let message = failure { try store.observe(\Sample.doubled, of: 1) { _ in } }?.message
    #expect(
      message
        == "A computed property of type Double is not a stored field of Sample. The fields are: id, length, note."
    )
  }

  @Test func theErrorForAnUndeclaredModelSaysSo() throws {
    let expected =
      "unknownModel: Artist is not a model of this store; pass it to Store(at:models:)."
    let messages = [
      failure { try store.fetch(Artist.all) }, failure { try store.liveQuery(Artist.all) },
      failure { try store.find(Artist.self, 1) },
      failure { try store.observe(.model(Artist.self)) { _ in } },
      failure { try store.write { tx in _ = try tx.fetch(Artist.all) } },
    ]
    #expect(messages.map { $0?.description } == Array(repeating: expected, count: 5))
  }

  @Test func theErrorForAnEmptyPathSaysSo() {
    #expect(
      failure { try Store(at: "") }?.description
        == "fileNotFound: The path of the store is empty. Specify a file.")
  }

  @Test func theErrorForTwoBindingsOfOneFieldSaysSo() {
    let refused = failure {
      try Store(
        at: directory.file("b.store"), models: Sample.self,
        bindings: [
          .derive(\Sample.note, from: "'a'"), .derive(\Sample.note, from: "'b'"),
        ])
    }
    #expect(
      refused?.message
        == "Sample.note has two bindings. Remove one, or give each a name, a condition and a priority of its own."
    )
  }

  @Test func theErrorOfAListNamesTheMissingRecord() throws {
    let world = try ListWorld()
    func refused(_ list: Int64, _ song: Int64) -> String? {
      failure {
        try world.store.write { tx in try tx.list(\Mix.songs, of: list).append(song) }
      }?.message
    }
    #expect(
      refused(1, 99)
        == "Nothing was changed: Mix.songs.element the list's element must be an existing Song (rule Mix.songs.element.reference)."
    )
    #expect(
      refused(99, 1)
        == "Nothing was changed: Mix.songs.owner the list's owner must be an existing Mix (rule Mix.songs.owner.reference)."
    )
  }

  @Test func anOptionalFieldPrintsAndComparesAsItIs() throws {
    let seen = Recorder<String>()
    let subscription = try store.observe(\Sample.note, of: 1) { change in
      seen.add("\(change.oldValue ?? "-") → \(change.newValue ?? "-") \(change.newValue == nil)")
    }
    try store.write { tx in _ = try tx.insert(Sample(id: 1, length: 1)) }
    try store.write { tx in try tx.set(\Sample.note, to: "a", for: 1) }
    try store.write { tx in try tx.set(\Sample.note, to: nil, for: 1) }
    store.waitForDelivery()
    #expect(seen.events == ["- → - true", "- → a false", "a → - true"])
    subscription.cancel()
  }

  @Test func onlyTheRequestedFieldsAreListed() throws {
    try store.write { tx in _ = try tx.insert(Sample(id: 1, length: 1)) }
    let seen = Recorder<[String]>()
    let subscription = try store.observe(Sample.self, of: 1, fields: [\Sample.note]) { change in
      seen.add(change.fields.map(\.name))
    }
    try store.write { tx in try tx.update(Sample(id: 1, length: 2, note: "a")) }
    try store.write { tx in try tx.set(\Sample.length, to: 3, for: 1) }
    store.waitForDelivery()
    #expect(seen.events == [["note"]])
    subscription.cancel()
  }

  @Test func waitingForDeliveryIncludesWritesOfCallbacks() throws {
    try store.write { tx in _ = try tx.insert(Sample(id: 1, length: 0)) }
    let seen = Recorder<Double>()
    let subscription = try store.observe(\Sample.length, of: 1) { [store] change in
      let length = change.new ?? 0
      seen.add(length)
      guard length < 10 else { return }
      do {
        try store.write { tx in try tx.set(\Sample.length, to: length + 1, for: 1) }
      } catch {
        Issue.record(error)
      }
    }
    try store.write { tx in try tx.set(\Sample.length, to: 1, for: 1) }
    store.waitUntilQuiet()
    #expect(seen.events == (1...10).map(Double.init))
    subscription.cancel()
  }
}
