import Testing

@testable import ModelStore

/// Texts that are encoded from their bytes, eight at a time, compared with the encoding of values.
@Suite(.tags(.law)) struct PlainTextKeyTests {
  /// Returns nil if the bytes are not plain.
  private static func key(
    ofPlain text: String, after lead: Int, by term: SortTerm, then number: Int64
  ) -> SortKey? {
    var encoder = SortKeyEncoder()
    for _ in 0..<lead { encoder.encode(.integer(0), by: SortTerm()) }
    let bytes = ContiguousArray(text.utf8)
    guard encoder.encode(plainText: bytes.span, by: term) else {
      // Nothing was written.
      encoder.encode(.text(text), by: term)
      encoder.encode(.integer(number), by: SortTerm())
      #expect(SortKey(encoder) == key(of: text, after: lead, by: term, then: number))
      return nil
    }
    encoder.encode(.integer(number), by: SortTerm())
    return SortKey(encoder)
  }

  private static func key(
    of text: String, after lead: Int, by term: SortTerm, then number: Int64
  ) -> SortKey {
    SortKey(
      values: Array(repeating: .integer(0), count: lead) + [.text(text)],
      terms: Array(repeating: SortTerm(), count: lead) + [term], key: [.integer(number)])
  }

  @Test(arguments: [SortTerm.Direction.ascending, .descending])
  func plainTextsHaveTheSameKeysAsTheirValues(direction: SortTerm.Direction) {
    let term = SortTerm(direction: direction)
    for count in 0...50 {
      // Every byte that a plain text may have.
      let text = String(
        decoding: (0..<count).map { UInt8(2 + ($0 * 37 + count * 11) % 126) }, as: UTF8.self)
      for lead in 0...23 {
        for number in [0, 1, -1, 1 << 20, .max] as [Int64] {
          #expect(
            Self.key(ofPlain: text, after: lead, by: term, then: number)
              == Self.key(of: text, after: lead, by: term, then: number),
            "\(count) bytes after \(lead)")
        }
      }
    }
  }

  @Test func textsWithBytesThatAreWrittenDifferentlyAreNotPlain() {
    for special in ["\u{0}", "\u{1}", "\u{80}", "é", "ﬁ", "😀"] {
      for place in 0...20 {
        let text =
          String(repeating: "a", count: place) + special + String(repeating: "z", count: 20 - place)
        #expect(Self.key(ofPlain: text, after: 0, by: SortTerm(), then: 1) == nil)
      }
    }
  }

  @Test func onlyTheOrderOfBytesIsPlain() {
    for collation in [Collation.nocase, .rtrim] {
      let term = SortTerm(collation: collation)
      #expect(Self.key(ofPlain: "Abc ", after: 0, by: term, then: 1) == nil)
    }
  }

  /// A tree that is read from texts of any kind has the places of their values, and a text that is
  /// not UTF-8 is refused.
  @Test func aResultReadFromTextsOfAnyKindIsInOrder() throws {
    let directory = try TemporaryDirectory()
    let store = try Store(at: directory.file("texts.store"), models: Named.self)
    let names = [
      "", "a", "\u{0}", "\u{1}b", "é", "e\u{301}", "a longer name than fits into a key", "Zebra",
      "sixteen letters!", "sixteen letters!\u{1}", "😀",
    ]
    try store.write { tx in
      for (place, name) in names.enumerated() {
        try tx.insert(Named(id: Int64(place), name: name))
      }
    }
    for query in [Named.all.order { $0.name }, Named.all.order { $0.name.descending }] {
      let live = try store.liveQuery(query)
      #expect(live.keys(in: 0..<names.count) == (try store.fetch(query)).map { [.integer($0.id)] })
    }
    try store.write { tx in
      try tx.execute("UPDATE Named SET name = CAST(x'61ff' AS TEXT) WHERE id = 1")
    }
    let error = #expect(throws: StoreError.self) {
      _ = try store.liveQuery(Named.all.order { $0.name })
    }
    #expect(error?.code == .invalidValue)
  }

  struct Named: Model {
    var id: Int64
    var name: String

    static let definition = ModelDefinition<Named>(
      "Named", key: \.id, fields: [.init("id", \.id), .init("name", \.name)])

    var key: Int64 { id }

    init(id: Int64, name: String) { (self.id, self.name) = (id, name) }

    init(row: borrowing RowView) throws {
      id = try row.decode(at: 0)
      name = try row.decode(at: 1)
    }

    func encode(to arguments: inout ArgumentWriter) throws {
      try id.encode(to: &arguments, at: 0)
      try name.encode(to: &arguments, at: 1)
    }
  }
}
