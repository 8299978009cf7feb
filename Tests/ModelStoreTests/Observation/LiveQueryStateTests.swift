import Foundation
import Testing

@testable import ModelStore

/// Live results without a database: every step between any two small states.
@Suite(.tags(.law)) struct LiveQueryStateTests {
  /// A row's sort key and whether the filter admits it, or no row.
  private struct Row: Hashable {
    var sortKey: Int64
    var isAdmitted: Bool
  }

  private static let schema = ModelSchema(
    name: "t",
    fields: [
      FieldSchema(name: "id", type: .integer), FieldSchema(name: "k", type: .integer),
      FieldSchema(name: "f", type: .integer),
    ], key: ["id"])
  private static let terms = [(field: 1, term: SortTerm())]

  private static let possible: [Row?] =
    [nil] + [0, 1, 2].flatMap { k in [true, false].map { Row(sortKey: k, isAdmitted: $0) } }

  private static func states(rowCount: Int) -> [[Row?]] {
    guard rowCount > 0 else { return [[]] }
    return states(rowCount: rowCount - 1).flatMap { state in possible.map { state + [$0] } }
  }

  private static func image(_ id: Int, _ row: Row) -> [SQLValue] {
    [.integer(Int64(id)), .integer(row.sortKey), .integer(row.isAdmitted ? 1 : 0)]
  }

  private static func result(of state: [Row?]) -> [[SQLValue]] {
    state.enumerated()
      .compactMap { id, row in row.flatMap { $0.isAdmitted ? (id, $0) : nil } }
      .sorted { ($0.1.sortKey, $0.0) < ($1.1.sortKey, $1.0) }
      .map { image($0.0, $0.1) }
  }

  private static func commit(from old: [Row?], to new: [Row?], version: UInt64)
    -> ChangeBroker.Commit
  {
    let changes = zip(old, new).enumerated().compactMap { id, pair -> RecordChange? in
      guard pair.0 != pair.1 else { return nil }
      let (before, after) = (pair.0.map { image(id, $0) }, pair.1.map { image(id, $0) })
      return RecordChange(
        model: "t", key: [.integer(Int64(id))], old: before, new: after, fields: [], origin: .user,
        isRecreated: false)
    }
    return ChangeBroker.Commit(
      changes: ChangeSet(version: version, changes: changes), isReset: false)
  }

  private static func live(_ state: [Row?]) -> LiveResult {
    LiveResult(
      rule: LiveResult.Rule(schema: schema, admits: { $0[2] == .integer(1) }, terms: terms),
      interest: ChangeBroker.Interest(model: "t"), images: result(of: state),
      reload: { [] }, report: { _ in })
  }

  private static func objection(
    through states: [[Row?]], oracle: LiveQueryOracle
  ) throws -> String? {
    let live = live(states[0])
    let mailbox = Mailbox<QueryDelta>(coalescing: .latest)
    let end = live.subscribe(into: mailbox)
    defer { end() }
    for (index, state) in states.enumerated().dropFirst() {
      _ = live.note(commit(from: states[index - 1], to: state, version: UInt64(index)))
    }
    let (old, new) = (result(of: states[0]), result(of: states[states.count - 1]))
    guard let delta = mailbox.take() else { return old == new ? nil : "no event" }
    let event = try QueryChanges<DynamicRecord>(delta, schema: schema)
    if old == new, event.updates.isEmpty, event.moves.isEmpty { return "an event for nothing" }
    guard event.oldVersion < event.newVersion else { return "version" }
    return oracle.objection(to: event, from: old, to: new)
  }

  /// Once, a result that could not be refetched continued to report indices of an outdated list.
  @Test func aResultThatCannotBeRefetchedTriesAgainAtTheNextCommit() throws {
    struct Unreadable: Error {}
    let states = [
      [Row(sortKey: 1, isAdmitted: true), nil], [nil, Row(sortKey: 0, isAdmitted: true)],
    ]
    let failures = Recorder<String>()
    let attempts = Recorder<Int>()
    let live = LiveResult(
      rule: LiveResult.Rule(schema: Self.schema, admits: nil, terms: Self.terms),
      interest: ChangeBroker.Interest(model: "t"), images: Self.result(of: states[0]),
      reload: {
        attempts.add(1)
        if attempts.events.count == 1 { throw Unreadable() }
        return Self.result(of: states[1])
      }, report: { failures.add($0.code.rawValue) })
    let mailbox = Mailbox<QueryDelta>(coalescing: .every)
    let end = live.subscribe(into: mailbox)
    let nothing = ChangeSet(version: 1, changes: [])
    let reset = ChangeBroker.Commit(changes: nothing, isReset: true)
    #expect(live.note(reset) == .failed)
    #expect(failures.events == ["database"])
    #expect(live.note(reset) == .ready)
    let delta = try #require(mailbox.take())
    let event = try QueryChanges<DynamicRecord>(delta, schema: Self.schema)
    #expect(event.isReset)
    #expect(event.deletions.map(\.key) == [[.integer(0)]])
    #expect(event.insertions.map(\.key) == [[.integer(1)]])
    #expect(live.rows.count == 1)
    end()
  }

  @Test func aResultThatLacksAChangedRecordIsRefetchedAndReportsIt() throws {
    let states = [
      [Row(sortKey: 1, isAdmitted: true), Row(sortKey: 2, isAdmitted: true)],
      [nil, Row(sortKey: 2, isAdmitted: true)],
    ]
    let reports = Recorder<String>()
    let live = LiveResult(
      rule: LiveResult.Rule(schema: Self.schema, admits: nil, terms: Self.terms),
      interest: ChangeBroker.Interest(model: "t"), images: Self.result(of: [nil, nil]),
      reload: { Self.result(of: states[1]) },
      report: { reports.add($0.code.rawValue) })
    let mailbox = Mailbox<QueryDelta>(coalescing: .every)
    let end = live.subscribe(into: mailbox)
    #expect(live.note(Self.commit(from: states[0], to: states[1], version: 1)) == .ready)
    #expect(reports.events == ["database"])
    let event = try QueryChanges<DynamicRecord>(try #require(mailbox.take()), schema: Self.schema)
    #expect(event.isReset)
    #expect(event.insertions.map(\.key) == [[.integer(1)]])
    end()
  }

  @Test("P1 P2 P3 P7 P9 every step between two states of three rows is reported exactly")
  func everyStepBetweenTwoStatesOfThreeRows() throws {
    let oracle = LiveQueryOracle(schema: Self.schema, terms: Self.terms)
    let states = Self.states(rowCount: 3)
    for (number, old) in states.enumerated() {
      // Every seventh target: all pairs of two of the three rows still occur.
      for new in states[(number % 7)...].enumerated().filter({ $0.offset % 7 == 0 }).map(\.element)
      {
        if let objection = try Self.objection(through: [old, new], oracle: oracle) {
          Issue.record("\(objection): \(old) to \(new)")
        }
      }
    }
  }

  @Test("P4 every pair of steps of two rows coalesces exactly")
  func everyPairOfStepsOfTwoRowsFolded() throws {
    let oracle = LiveQueryOracle(schema: Self.schema, terms: Self.terms)
    let states = Self.states(rowCount: 2)
    for (number, first) in states.enumerated() {
      for second in states {
        for third in states.enumerated().filter({ ($0.offset + number) % 4 == 0 }).map(\.element) {
          if let objection = try Self.objection(through: [first, second, third], oracle: oracle) {
            Issue.record("\(objection): \(first) to \(second) to \(third)")
          }
        }
      }
    }
  }

  /// Of the sequences of four, every how-manieth is tried: `MODELSTORE_LIVE_SHARE=1` for all.
  private static var share: Int {
    ProcessInfo.processInfo.environment["MODELSTORE_LIVE_SHARE"].flatMap { Int($0) } ?? 32
  }

  @Test(
    "P4 every sequence of up to four commits over four rows coalesces exactly",
    arguments: [[], [0, 1, 1, 2]] as [[Int64]])
  func everyShortSequenceOfCommits(sortKeys: [Int64]) throws {
    let start = (0..<4).map { place in
      sortKeys.isEmpty ? nil : Row(sortKey: sortKeys[place], isAdmitted: true)
    }
    let live = Self.live(start)
    var walk = Walk(rule: live.rule, start: start, share: Self.share)
    try walk.extend(start, live.rows, told: nil, length: 1)
    #expect(walk.checkedCount >= 24 + 24 * 24 + 24 * 24 * 24 + 24 * 24 * 24 * 24 / Self.share)
    #expect(walk.objections.first == nil)
  }

  /// Goes through all sequences of commits that change one row each.
  private struct Walk {
    let rule: LiveResult.Rule
    let start: [Row?]
    let share: Int
    private(set) var checkedCount = 0
    private(set) var objections: [String] = []
    private var longestCount = 0
    private let oracle = LiveQueryOracle(
      schema: LiveQueryStateTests.schema, terms: LiveQueryStateTests.terms)

    init(rule: LiveResult.Rule, start: [Row?], share: Int) {
      self.rule = rule
      self.start = start
      self.share = share
    }

    /// - Parameter told: The net result of the commits before; nil for no change.
    mutating func extend(
      _ state: [Row?], _ rows: LiveRows, told: QueryDelta?, length: UInt64
    ) throws {
      for place in state.indices {
        for row in LiveQueryStateTests.possible where row != state[place] {
          if length == 4 {
            longestCount += 1
            guard longestCount % share == 0 else { continue }
          }
          var next = state
          next[place] = row
          var touches = LiveQueryStateTests.commit(from: state, to: next, version: length)
            .changes.compactMap(rule.touch)
          var nextRows = rows
          guard nextRows.advance(to: length, &touches) else {
            objections.append("\(state) to \(next)")
            continue
          }
          var both = told
          if !touches.isEmpty {
            let step = QueryDelta(old: rows, new: nextRows, touches: touches, isReset: false)
            if let told { both = told.followed(by: step) } else { both = step }
          }
          checkedCount += 1
          if let objection = try objection(to: both, at: next) {
            objections.append("\(objection): \(start) to \(next) by \(state)")
          }
          if length < 4 { try extend(next, nextRows, told: both, length: length + 1) }
        }
      }
    }

    private func objection(to told: QueryDelta?, at state: [Row?]) throws -> String? {
      let (old, new) = (
        LiveQueryStateTests.result(of: start), LiveQueryStateTests.result(of: state)
      )
      guard let told else { return old == new ? nil : "no event" }
      let event = try QueryChanges<DynamicRecord>(told, schema: LiveQueryStateTests.schema)
      return old == new ? "an event for nothing" : oracle.objection(to: event, from: old, to: new)
    }
  }

  @Test("P4 long sequences of commits over four rows coalesce exactly", arguments: 1...20)
  func longFoldsOfFourRows(seed: UInt64) throws {
    let oracle = LiveQueryOracle(schema: Self.schema, terms: Self.terms)
    var generator = SeededGenerator(seed: seed)
    for _ in 0..<200 {
      let states = (0..<Int.random(in: 3...7, using: &generator)).map { _ in
        (0..<4).map { _ in Self.possible.randomElement(using: &generator) ?? nil }
      }
      if let objection = try Self.objection(through: states, oracle: oracle) {
        Issue.record("seed \(seed): \(objection): \(states)")
      }
    }
  }
}

extension LiveResult.Rule {
  /// The tree of records that are known to be in order.
  func tree(sorted images: [[SQLValue]]) -> PlaceTree {
    do {
      return try tree(images)
    } catch {
      Issue.record("The records are not in order: \(images)")
      return PlaceTree()
    }
  }
}

extension LiveResult {
  /// A result without a database that holds `images`, as of version 0.
  convenience init(
    rule: Rule, interest: ChangeBroker.Interest, images: [[SQLValue]],
    reload: @escaping @Sendable () throws -> [[SQLValue]],
    report: @escaping @Sendable (StoreError) -> Void
  ) {
    self.init(
      rule: rule, interest: interest, rows: LiveRows(tree: rule.tree(sorted: images), version: 0),
      reload: reload, report: report)
  }
}

extension LiveSource {
  /// Collects what happens in `mailbox`.
  func subscribe(into mailbox: Mailbox<QueryDelta>) -> @Sendable () -> Void {
    subscribe(
      LiveSubscriber(
        receive: {
          _ = mailbox.put($0)
          return .ready
        }, wake: { _ in }))
  }
}
