import Testing

@testable import ModelStore

/// What each observer is passed of commits with several changes, compared with a search through all
/// observers and changes.
@Suite(.tags(.law)) struct RoutedCommitsTests {
  private static let schema = ModelSchema(
    name: "t",
    fields: [FieldSchema(name: "id", type: .integer), FieldSchema(name: "a", type: .integer)],
    key: ["id"])

  private final class Witness: ChangeBroker.Observer {
    let name: Int
    let interests: [ChangeBroker.Interest]
    private let notes: Recorder<String>

    init(_ name: Int, _ interests: [ChangeBroker.Interest], _ notes: Recorder<String>) {
      (self.name, self.interests, self.notes) = (name, interests, notes)
    }

    func note(_ commit: ChangeBroker.Commit) -> ChangeBroker.Outcome {
      notes.add("\(name): \(commit.changes.map(\.line))")
      return []
    }

    func deliver(upTo version: UInt64) {}
  }

  private static func concerns(_ change: RecordChange, _ interest: ChangeBroker.Interest) -> Bool {
    guard change.model == interest.model else { return false }
    let images = [change.old, change.new].compactMap(\.self)
    return switch interest.records {
    case .all: true
    case .one(let key, let identity): identity(stored: change.key) == key
    case .having(let field, let value): images.contains { $0[field] == value }
    case .within(let range):
      images.contains { range.contains(ValueRange.place(of: $0[range.field], range.collation)) }
    }
  }

  @Test(arguments: 1...6)
  func eachObserverIsPassedItsChangesInOrderAndOnce(seed: UInt64) {
    var random = SeededGenerator(seed: seed)
    let broker = ChangeBroker()
    let notes = Recorder<String>()
    var known: [(witness: Witness, end: @Sendable () -> Void)] = []
    let values: [SQLValue] = [
      .integer(0), .integer(1), .integer(1 << 53), .integer(1 << 53 + 1), .real(0.5),
      .text("a"), .text("A"), .text("ab"), .text(""), .blob([]), .blob([0, 255]),
    ]
    func value() -> SQLValue { values.randomElement(using: &random) ?? .null }
    func interest(_ model: String) -> ChangeBroker.Interest {
      let collation: Collation = model == "t" ? .binary : .nocase
      let records: [ChangeBroker.Interest.Records] = [
        .all, .one([value()], of: Self.schema), .having(field: 1, value: value()),
        .within(
          ValueRange(
            field: 1, collation: collation,
            lower: .before(ValueRange.place(of: value(), collation)),
            upper: .after(ValueRange.place(of: value(), collation)))),
      ]
      return ChangeBroker.Interest(
        model: model, records: records.randomElement(using: &random) ?? .all)
    }
    for step in 1...300 {
      if known.count > 20 || Bool.random(using: &random), !known.isEmpty {
        known.remove(at: Int.random(in: known.indices, using: &random)).end()
      }
      let models = [["t"], ["u"], ["t", "u"]].randomElement(using: &random) ?? []
      let witness = Witness(step, models.map { interest($0) }, notes)
      known.append((witness, broker.add(witness)))
      let changes = (0..<Int64.random(in: 0...6, using: &random)).map { key in
        let model = Bool.random(using: &random) ? "t" : "u"
        let old: [SQLValue]? = Bool.random(using: &random) ? [.integer(key), value()] : nil
        return RecordChange(
          model: model, key: [.integer(key)], old: old, new: [.integer(key), value()],
          origin: .user)
      }
      let before = notes.events.count
      broker.publish(ChangeBroker.Announcement(changes: changes))
      let expected = known.compactMap { witness, _ -> String? in
        let own = changes.filter { change in
          witness.interests.contains { Self.concerns(change, $0) }
        }
        return own.isEmpty ? nil : "\(witness.name): \(own.map(\.line))"
      }
      #expect(Array(notes.events[before...]) == expected, "seed \(seed), step \(step)")
    }
    for (_, end) in known { end() }
  }

  /// An observer remembers the place of its matches. It belongs to one commit, and another
  /// observer's matches may be at that place of the next.
  @Test func aPlaceAmongTheMatchesOfAnEarlierCommitIsNotUsedAgain() {
    let broker = ChangeBroker()
    let notes = Recorder<String>()
    func witness(_ name: Int, _ value: Int64) -> Witness {
      Witness(
        name,
        [ChangeBroker.Interest(model: "t", records: .having(field: 1, value: .integer(value)))],
        notes)
    }
    func change(_ key: Int64, _ value: Int64) -> RecordChange {
      RecordChange(
        model: "t", key: [.integer(key)], old: nil, new: [.integer(key), .integer(value)],
        origin: .user)
    }
    let ends = [broker.add(witness(1, 10)), broker.add(witness(2, 20))]
    let commits = [
      [change(1, 10), change(2, 20), change(3, 10)], [change(4, 20), change(5, 10), change(6, 20)],
      [change(7, 10)], [change(8, 20)],
    ]
    for changes in commits { broker.publish(ChangeBroker.Announcement(changes: changes)) }
    let expected = commits.flatMap { changes in
      [(1, SQLValue.integer(10)), (2, .integer(20))].compactMap { name, value -> String? in
        let own = changes.filter { $0.new?[1] == value }
        return own.isEmpty ? nil : "\(name): \(own.map(\.line))"
      }
    }
    #expect(notes.events == expected)
    for end in ends { end() }
  }

  /// Only the subscribers of a result that are windows read the file, and they come and go.
  @Test func aCommitMayBeReadWhileAWindowFollowsTheResult() {
    let broker = ChangeBroker()
    func result(_ model: String) -> LiveResult {
      LiveResult(
        rule: LiveResult.Rule(schema: Self.schema, admits: nil, terms: []),
        interest: ChangeBroker.Interest(model: model),
        rows: LiveRows(tree: PlaceTree(), version: 0), reload: { [] }, readers: broker.readers,
        report: { _ in })
    }
    let (windowed, whole) = (result("t"), result("u"))
    let ends = [broker.add(windowed), broker.add(whole)]
    func mayRead(_ model: String) -> Bool {
      broker.mayRead(
        [RecordChange(model: model, key: [.null], old: nil, new: [.null, .null], origin: .user)],
        knownObserver: broker.latestObserver)
    }
    func follow(_ result: LiveResult, readsFile: Bool) -> @Sendable () -> Void {
      result.subscribe(LiveSubscriber(receive: { _ in [] }, wake: { _ in }, readsFile: readsFile))
    }
    let plain = follow(windowed, readsFile: false)
    #expect(!mayRead("t"))
    let first = follow(windowed, readsFile: true)
    let second = follow(windowed, readsFile: true)
    #expect(mayRead("t"))
    #expect(!mayRead("u"))
    first()
    first()
    #expect(mayRead("t"))
    second()
    #expect(!mayRead("t"))
    #expect(broker.readers.isEmpty)
    for end in ends + [plain] { end() }
  }
}
