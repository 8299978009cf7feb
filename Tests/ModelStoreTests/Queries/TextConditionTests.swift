import Testing

@testable import ModelStore

/// `contains`, `hasPrefix` and `hasSuffix`: in SQL, in the evaluator, and by definition.
@Suite(.tags(.law)) struct TextConditionTests {
  private struct Note: Model {
    var id: Int64
    var text: String
    var folded: String?

    static let definition = ModelDefinition<Note>(
      "Note", key: \.id,
      fields: [
        .init("id", \.id), .init("text", \.text),
        .init("folded", \.folded, collation: .nocase),
      ])

    var key: Int64 { id }

    init(id: Int64, text: String, folded: String?) {
      self.id = id
      self.text = text
      self.folded = folded
    }

    init(row: borrowing RowView) throws {
      id = try row.decode(at: 0)
      text = try row.decode(at: 1)
      folded = try row.decode(at: 2)
    }

    func encode(to arguments: inout ArgumentWriter) throws {
      try id.encode(to: &arguments, at: 0)
      try text.encode(to: &arguments, at: 1)
      try folded.encode(to: &arguments, at: 2)
    }

    var values: [SQLValue] { [.integer(id), .text(text), folded.map(SQLValue.text) ?? .null] }
  }

  /// Wildcards, NUL, what SQLite reads as U+FFFD, and characters of one to four bytes that begin
  /// alike, precomposed and not.
  private static let scalars: [Unicode.Scalar] = [
    "a", "A", "b", "e", "é", "è", "\u{301}", "%", "_", "*", "?", "[", "]", "^", "-", "\\", "'",
    "\0", "\u{7F}", "\u{FFFD}", "\u{FFFE}", "\u{FFFF}", "😀", "😁", "\u{1FFFE}", "\u{10FFFF}",
  ]

  private static func randomText(upTo count: Int, _ random: inout SeededGenerator) -> String {
    var text = ""
    for _ in 0..<Int.random(in: 0...count, using: &random) {
      text.unicodeScalars.append(scalars.randomElement(using: &random) ?? "a")
    }
    return text
  }

  private enum Form: CaseIterable {
    case contains, hasPrefix, hasSuffix

    func query(_ text: String, folded: Bool) -> StoreQuery<Note> {
      Note.where { note in
        switch (self, folded) {
        case (.contains, false): note.text.contains(text)
        case (.contains, true): note.folded.contains(text)
        case (.hasPrefix, false): note.text.hasPrefix(text)
        case (.hasPrefix, true): note.folded.hasPrefix(text)
        case (.hasSuffix, false): note.text.hasSuffix(text)
        case (.hasSuffix, true): note.folded.hasSuffix(text)
        }
      }
    }

    /// By scalars, one after another.
    func holds(_ wanted: String, in text: String) -> Bool {
      let (text, wanted) = (Array(text.unicodeScalars), Array(wanted.unicodeScalars))
      let last = text.count - wanted.count
      guard last >= 0 else { return false }
      let places = (0...last).filter { Array(text[$0..<$0 + wanted.count]) == wanted }
      return switch self {
      case .contains: !places.isEmpty
      case .hasPrefix: places.first == 0
      case .hasSuffix: places.last == last
      }
    }
  }

  @Test(arguments: [UInt64(1), 20_261_123])
  func queriesAndLiveQueriesAnswerByDefinition(seed: UInt64) throws {
    var random = SeededGenerator(seed: seed)
    let directory = try TemporaryDirectory()
    let store = try Store(at: directory.file("notes.store"), models: Note.self)
    let notes = (1...200).map { id in
      Note(
        id: id, text: Self.randomText(upTo: 6, &random),
        folded: Int.random(in: 0..<5, using: &random) == 0
          ? nil : Self.randomText(upTo: 4, &random))
    }
    try store.write { tx in for note in notes { try tx.insert(note) } }
    var found = 0
    for _ in 0..<150 {
      let wanted = Self.randomText(upTo: 2, &random)
      for form in Form.allCases {
        for folded in [false, true] {
          let query = form.query(wanted, folded: folded)
          let expected = notes.filter { note in
            (folded ? note.folded : note.text).map { form.holds(wanted, in: $0) } ?? false
          }.map(\.id)
          let condition = try #require(query.condition)
          let evaluate = try #require(ConditionEvaluator(condition, schema: Note.schema))
          let place: Comment = "seed \(seed), \(form) \(wanted.debugDescription)"
          #expect(try store.fetch(query).map(\.id) == expected, place)
          #expect(notes.filter { evaluate($0.values) == true }.map(\.id) == expected, place)
          #expect(
            notes.filter { evaluate($0.values) == nil }.map(\.id)
              == (folded ? notes.filter { $0.folded == nil }.map(\.id) : []), place)
          found += expected.count
        }
      }
    }
    #expect(found > 10_000)
  }

  @Test func theExamplesOfTheDocumentationHold() throws {
    let directory = try TemporaryDirectory()
    let store = try Store(at: directory.file("notes.store"), models: Note.self)
    let long = String(repeating: "[long]", count: 400)
    let texts = ["100% [sic]", "100 percent", "cafe\u{301}", "café", long + "!", ""]
    try store.write { tx in
      for (index, text) in texts.enumerated() {
        try tx.insert(Note(id: Int64(index), text: text, folded: nil))
      }
    }
    func found(_ condition: (FieldReferences<Note>) -> StoreQuery<Note>.Predicate) throws -> [Int] {
      try store.fetch(Note.where(condition)).map { Int($0.id) }
    }
    #expect(try found { $0.text.contains("% [") } == [0])
    #expect(try found { $0.text.hasPrefix("100%") } == [0])
    #expect(try found { $0.text.hasSuffix("[sic]") } == [0])
    #expect(try found { $0.text.contains("Percent") } == [])
    #expect(try found { $0.text.contains("é") } == [3])
    #expect(try found { $0.text.hasPrefix("cafe") } == [2])
    // Longer than a pattern may be.
    #expect(try found { $0.text.hasPrefix(long) } == [4])
    #expect(try found { $0.text.hasSuffix(long + "!") } == [4])
    #expect(try found { $0.text.contains("") } == [0, 1, 2, 3, 4, 5])
    // Unknown for NULL, so neither this nor its opposite selects a record.
    #expect(try found { $0.folded.contains("a") } == [])
    #expect(try found { !$0.folded.contains("a") } == [])
  }

  @Test func anIndexIsUsedForAPrefixOnly() throws {
    let connection = try QueryFixtures.scratchConnection()
    try connection.execute(
      """
      CREATE TABLE Note (id INTEGER PRIMARY KEY, text TEXT NOT NULL, folded TEXT COLLATE NOCASE);
      CREATE INDEX texts ON Note (text);
      CREATE INDEX foldeds ON Note (folded);
      """)
    func plan(_ query: StoreQuery<Note>) throws -> [String] {
      try connection.rows("EXPLAIN QUERY PLAN \(try query.selectText())") { try $0.text(at: 3) }
    }
    let long = String(repeating: "a", count: 3_000)
    #expect(
      try plan(Note.where { $0.text.hasPrefix("a[") })
        == [
          "SEARCH Note USING INDEX texts (text>? AND text<?)", "USE TEMP B-TREE FOR ORDER BY",
        ])
    for condition in [
      Note.where { $0.text.contains("a") }, Note.where { $0.text.hasSuffix("a") },
      // The index has another order than the bytes, and these prefixes are not patterns.
      Note.where { $0.folded.hasPrefix("a") }, Note.where { $0.text.hasPrefix("a\0") },
      Note.where { $0.text.hasPrefix(long) },
    ] {
      #expect(try plan(condition) == ["SCAN Note"])
    }
  }

  @Test func aLiveQueryFollowsThemRecordByRecord() throws {
    let directory = try TemporaryDirectory()
    let store = try Store(at: directory.file("notes.store"), models: Note.self)
    let live = try store.liveQuery(Note.where { $0.text.contains("\0_") })
    #expect(live.plan == .incremental)
    try store.write { tx in
      try tx.insert(Note(id: 1, text: "a\0_b", folded: nil))
      try tx.insert(Note(id: 2, text: "a\0-b", folded: nil))
    }
    #expect(live.keys(in: 0..<9) == [[.integer(1)]])
  }

  /// As in columns of any type, which other programs made.
  @Test func aBlobHoldsNoText() throws {
    let connection = try QueryFixtures.scratchConnection()
    let schema = ModelSchema(
      name: "T",
      fields: [
        FieldSchema(name: "id", type: .integer, isRowID: true),
        FieldSchema(name: "t", type: .text, declaredType: "TEXT", isOptional: true),
      ], key: ["id"])
    try connection.execute("CREATE TABLE T (id INTEGER PRIMARY KEY, t TEXT)")
    try connection.execute("INSERT INTO T VALUES (1, x'6162'), (2, 'ab'), (3, NULL), (4, 12)")
    let rows = try connection.rows("SELECT * FROM T") { row in try row.values() }
    for place in Condition.TextPlace.allCases {
      for wanted in ["", "ab", "12"] {
        let condition = Condition.text(.field(1), place, wanted)
        let evaluate = try #require(ConditionEvaluator(condition, schema: schema))
        let text: SQLText = "SELECT \(try condition.sqlText(schema: schema)) FROM T"
        let answers = try connection.rows(text) { row in
          row.isNull(at: 0) ? nil : try row.integer(at: 0) != 0
        }
        #expect(answers == [false, wanted != "12", nil, wanted != "ab"])
        #expect(rows.map { evaluate($0) } == answers)
      }
    }
  }

  @Test func conditionsAreEqualWhenTheirBytesAre() {
    let condition = Condition.text(.field(1), .anywhere, "é")
    #expect(condition == .text(.field(1), .anywhere, "é"))
    #expect(condition != .text(.field(1), .anywhere, "e\u{301}"))
    #expect(condition != .text(.field(1), .atEnd, "é"))
    #expect(condition != .text(.field(2), .anywhere, "é"))
  }
}
