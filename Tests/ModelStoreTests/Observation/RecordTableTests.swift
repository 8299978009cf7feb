import Testing

@testable import ModelStore

/// The table of observers of single records, and what they share.
@Suite(.tags(.law)) struct RecordTableTests {
  private static let schema = ModelSchema(
    name: "t",
    fields: [
      FieldSchema(name: "id", type: .text, collation: .nocase),
      FieldSchema(name: "a", type: .integer), FieldSchema(name: "b", type: .integer),
    ], key: ["id"])

  private static func observer(_ key: SQLValue, fields: Set<Int>? = nil) -> RecordObserver {
    RecordObserver(
      ObservedFields(schema, fields: fields, counted: fields), of: [key], coalescing: .latest)
  }

  private static func found(_ table: RecordTable, _ key: SQLValue) -> [ObjectIdentifier] {
    var found: [ObjectIdentifier] = []
    table.forEach(of: KeyIdentity(schema)(given: [key])) { found.append(ObjectIdentifier($0)) }
    return found
  }

  /// Keys differ in case, so that several keys are one record.
  @Test(arguments: 1...3)
  func theTableFindsWhatASearchThroughAllFinds(seed: UInt64) {
    var random = SeededGenerator(seed: seed)
    var table = RecordTable()
    var known: [(key: String, observer: RecordObserver)] = []
    for step in 1...6_000 {
      // It grows to some hundred records, and shrinks to few again.
      let isGrowing = step / 1_000 % 2 == 0
      let key =
        "\(["k", "K"].randomElement(using: &random) ?? "")\(Int.random(in: 0..<400, using: &random))"
      if Int.random(in: 0..<10, using: &random) < (isGrowing ? 8 : 2) || known.isEmpty {
        let observer = Self.observer(.text(key))
        known.append((key, observer))
        table.insert(observer)
      } else {
        let gone = known.remove(at: Int.random(in: known.indices, using: &random))
        let removals = [table.remove(gone.observer), table.remove(gone.observer)]
        #expect(removals == [true, false])
      }
      let wanted = known.filter { $0.key.lowercased() == key.lowercased() }
      #expect(
        Self.found(table, .text(key)) == wanted.map { ObjectIdentifier($0.observer) },
        "seed \(seed), step \(step)")
      #expect(table.count == known.count)
    }
    var all: Set<ObjectIdentifier> = []
    table.forEachObserver { all.insert(ObjectIdentifier($0)) }
    #expect(all == Set(known.map { ObjectIdentifier($0.observer) }))
  }

  @Test func aLoneIntegerIsTheSameRecordInEverySpelling() {
    let schema = ModelSchema(
      name: "n", fields: [FieldSchema(name: "id", type: .integer, isRowID: true)], key: ["id"])
    let identity = KeyIdentity(schema)
    #expect(RecordKey([.integer(7)]).values == [.integer(7)])
    #expect(RecordKey([.real(7)]).values == [.real(7)])
    #expect(RecordKey([.integer(7), .integer(8)]).values == [.integer(7), .integer(8)])
    for spelled: [SQLValue] in [[.integer(7)], [.real(7)], [.text("7")]] {
      #expect(identity(observed: RecordKey(spelled)) == identity(stored: [.integer(7)]))
      #expect(identity(given: spelled[0]) == identity(given: spelled))
    }
    #expect(identity(stored: .integer(8)) == identity(stored: [.integer(8)]))
    #expect(identity(stored: .real(8)) == identity(changed: RecordKey([.integer(8)])))
    #expect(identity(stored: .real(8.5)) != identity(stored: .integer(8)))
    #expect(identity(stored: .real(0x1p63)) != identity(stored: .integer(.max)))
    // The key of a record before its model got another one, and a key that is partly NULL.
    let pair = KeyIdentity([
      FieldSchema(name: "a", type: .text), FieldSchema(name: "b", type: .text),
    ])
    #expect(pair(changed: .integer(5)) == nil)
    #expect(identity(changed: .values([.null, .integer(5)])) == nil)
  }

  /// The encoded form is the definition; a whole number has a shorter one.
  @Test func keysAreTheSameRecordExactlyIfTheirEncodedFormsAreEqual() {
    let numbers: [Double] = [
      0, -0.0, 1, 1.5, 0x1p53, 0x1p53 + 2, -0x1p63, 0x1p63, 1e300, .infinity, -.infinity,
    ]
    let integers: [Int64] = [0, 1, -1, 1 << 53, 1 << 53 + 1, 1 << 53 + 2, .min, .max]
    let values =
      [.null, .text("1"), .text("a"), .text("A"), .blob([49])]
      + numbers.map { SQLValue.real($0) } + integers.map { SQLValue.integer($0) }
    for collation in [Collation.binary, .nocase] {
      let field = FieldSchema(name: "k", type: .text, collation: collation)
      let identity = KeyIdentity([field])
      let terms = [SortTerm(collation: collation)]
      for one in values {
        for other in values {
          let (left, right) = (identity(stored: one), identity(stored: other))
          let isSame =
            SortKey(values: [one], terms: terms, key: [])
            == SortKey(values: [other], terms: terms, key: [])
          #expect((left == right) == isSame, "\(one), \(other)")
          #expect([left < right, left == right, left > right].count { $0 } == 1)
          if isSame { #expect(left.quickHash == right.quickHash) }
        }
      }
    }
  }

  /// Random observers and changes, compared with a search through all observers.
  @Test(arguments: 1...3)
  func exactlyTheAffectedObserversOfRecordsAreFound(seed: UInt64) {
    var random = SeededGenerator(seed: seed)
    var routes = ChangeRoutes()
    var known: [RecordObserver] = []
    var nextNumber: UInt64 = 0
    func key() -> SQLValue { .text("k\(Int.random(in: 0..<5, using: &random))") }
    func value() -> SQLValue { .integer(Int64.random(in: 0..<3, using: &random)) }
    for step in 1...2_000 {
      if Bool.random(using: &random), !known.isEmpty {
        let gone = known.remove(at: Int.random(in: known.indices, using: &random))
        let (isFound, _) = routes.remove(gone)
        #expect(isFound)
      } else {
        let fields: Set<Int>? = [nil, [1], [1, 2], [2]].randomElement(using: &random) ?? nil
        let observer = Self.observer(key(), fields: fields)
        nextNumber += 1
        #expect(observer.begins(as: nextNumber))
        known.append(observer)
        _ = routes.add(observer)
      }
      let changed = key()
      let image = { [changed, value(), value()] }
      let change = RecordChange(
        model: "t", key: [changed], old: Bool.random(using: &random) ? image() : nil,
        new: image(), origin: .user)
      var found: [UInt64] = []
      routes.forEachObserver(of: change) { found.append($0) }
      let wanted = known.filter { observer in
        guard observer.key == [changed] else { return false }
        guard let old = change.old, let new = change.new, old != new else { return true }
        return observer.fields.fields?.contains { old[$0] != new[$0] } ?? true
      }
      #expect(found.sorted() == wanted.compactMap(\.number).sorted(), "seed \(seed), step \(step)")
      #expect(routes.recordObserverCount == known.count)
      let isOfAll = known.contains { $0.fields.fields == nil }
      let union = known.reduce(into: Set<Int>()) { $0.formUnion($1.fields.fields ?? []) }
      #expect(
        routes.interests == (known.isEmpty ? [:] : ["t": isOfAll ? nil : union]),
        "seed \(seed), step \(step)")
    }
  }

  @Test func anObserverThatEndedBeforeItEnteredIsNotAdded() {
    let broker = ChangeBroker()
    let observer = Self.observer(.text("a"))
    observer.end()
    observer.enter(broker)
    #expect(observer.number == nil)
    #expect(broker.observers.isEmpty)
    #expect(!broker.hasObservers)
  }

  @Test func observersOfRecordsAndOthersAreListedInTheirOrder() {
    let broker = ChangeBroker()
    let observers = [
      Self.observer(.text("b")), Self.observer(.text("a")),
      RecordObserver(
        ObservedFields(Self.schema, fields: nil, counted: nil), of: nil, coalescing: .latest),
      Self.observer(.text("a")),
    ]
    for observer in observers { observer.enter(broker) }
    #expect(broker.observers.map { ObjectIdentifier($0) } == observers.map { ObjectIdentifier($0) })
    #expect(observers.map(\.number) == [1, 2, 3, 4])
    broker.remove(observers[1], number: 2)
    broker.remove(observers[2], number: 3)
    #expect(broker.observers.count == 2)
    #expect(broker.hasObservers)
    broker.remove(observers[0], number: 1)
    broker.remove(observers[3], number: 4)
    #expect(!broker.hasObservers)
    #expect(broker.interests().isEmpty)
  }
}
