@testable import ModelStore

/// A table `t` without a database, and live results of it: the records whose `f` is 1, ordered by
/// `k`.
enum SmallTable {
  static let schema = ModelSchema(
    name: "t",
    fields: [
      FieldSchema(name: "id", type: .integer), FieldSchema(name: "k", type: .integer),
      FieldSchema(name: "f", type: .integer), FieldSchema(name: "v", type: .integer),
    ], key: ["id"])

  /// Records by id.
  typealias State = [Int64: [SQLValue]]

  static func result(of state: State) -> [DynamicRecord] {
    state.values.filter { $0[2] == .integer(1) }
      .sorted { ($0[1].number, $0[0].number) < ($1[1].number, $1[0].number) }
      .map { DynamicRecord(schema: schema, values: $0) }
  }

  static func randomState(after old: State, using generator: inout SeededGenerator) -> State {
    var state = old
    for _ in 0..<Int.random(in: 1...6, using: &generator) {
      let id = Int64.random(in: 0..<9, using: &generator)
      if Int.random(in: 0..<4, using: &generator) == 0 {
        state[id] = nil
      } else {
        state[id] = [
          .integer(id), .integer(.random(in: 0..<5, using: &generator)),
          .integer(Int.random(in: 0..<4, using: &generator) == 0 ? 0 : 1),
          .integer(.random(in: 0..<2, using: &generator)),
        ]
      }
    }
    return state
  }

  static func live(
    _ state: State, reload: @escaping @Sendable () throws -> [[SQLValue]] = { [] }
  ) -> LiveResult {
    LiveResult(
      rule: LiveResult.Rule(
        schema: schema, admits: { $0[2] == .integer(1) }, terms: [(field: 1, term: SortTerm())]),
      interest: ChangeBroker.Interest(model: "t"), images: result(of: state).map(\.values),
      reload: reload, report: { _ in })
  }

  /// Notifies `live` of a commit that led from one state to another.
  static func step(from old: State, to new: State, version: UInt64, in live: LiveResult) {
    let changes = Set(old.keys).union(new.keys).sorted().compactMap { id -> RecordChange? in
      guard old[id] != new[id] else { return nil }
      return RecordChange(
        model: "t", key: [.integer(id)], old: old[id], new: new[id], fields: [], origin: .user,
        isRecreated: false)
    }
    _ = live.note(
      ChangeBroker.Commit(
        changes: ChangeSet(version: version, changes: changes), isReset: false))
  }
}

extension ChangeBroker.Commit {
  /// Creates a commit with its changes in the form that the broker uses.
  init(changes: ChangeSet, isReset: Bool) {
    let part: Part =
      changes.changes.count == 1 ? .one(changes.changes[0]) : .several(changes.changes)
    self.init(Frame(version: changes.version), part, isReset: isReset)
  }
}
