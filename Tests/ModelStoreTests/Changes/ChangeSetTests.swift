import Testing

@testable import ModelStore

/// Folding change sets: what a slow observer gets must be what one commit for everything would say.
@Suite(.tags(.unit)) struct ChangeSetTests {
  private static let fields = [(index: 0, name: "id"), (index: 1, name: "v")]

  /// The rows after some transactions, and one change set for each transaction.
  private struct History {
    var rows: [Int64: Int64]
    let initial: [Int64: Int64]
    var next: Int64 = 100
    var capture = ChangeCapture()
    var atStart: [Int64: Int64]
    var version: UInt64 = 0

    init(_ initial: [Int64: Int64]) {
      self.initial = initial
      rows = initial
      atStart = initial
    }

    /// Values never come back, so that every surviving touch is a change.
    mutating func perform(_ operation: ChangeCaptureTests.Operation) -> Bool {
      let number = operation.row
      let identity = ChangeCapture.RowIdentity.rowID(number)
      let image = rows[number].map { [SQLValue.integer(number), .integer($0)] }
      next += 1
      switch operation {
      case .insert1, .insert2:
        guard image == nil else { return false }
        rows[number] = next
        capture.inserting(table: 0, identity: identity, by: Provenance(.user))
      case .update1, .update2:
        guard image != nil else { return false }
        rows[number] = next
        _ = capture.updating(table: 0, identity: identity, by: Provenance(.user)) {
          ChangeCapture.FirstImage(values: image)
        }
      case .delete1, .delete2:
        guard image != nil else { return false }
        rows[number] = nil
        capture.deleting(table: 0, identity: identity, by: Provenance(.user)) {
          ChangeCapture.FirstImage(values: image)
        }
      case .savepoint, .rollBack: return false
      }
      return true
    }

    func changes() -> [RecordChange] {
      capture.netChanges(
        tables: [ChangeCaptureTests.table], before: { capture.rows[$0].before },
        after: { row in
          guard case .rowID(let number) = capture.rows[row].identity else { return nil }
          return rows[number].map { [.integer(number), .integer($0)] }
        })
    }

    mutating func commit() -> ChangeSet {
      version += 1
      defer { capture = ChangeCapture() }
      return ChangeSet(version: version, changes: changes())
    }
  }

  private static func sorted(_ set: ChangeSet) -> ChangeSet {
    ChangeSet(
      version: set.version, changes: set.changes.sorted { $0.key.description < $1.key.description })
  }

  /// Every sequence of six operations on two rows, as three transactions of two.
  private static func forEachHistory(
    _ body: (_ path: [ChangeCaptureTests.Operation], _ parts: [ChangeSet], _ whole: ChangeSet) ->
      Void
  ) {
    let operations = ChangeCaptureTests.Operation.allCases.filter {
      $0 != .savepoint && $0 != .rollBack
    }
    func explore(
      _ split: History, _ joined: History, _ path: [ChangeCaptureTests.Operation],
      _ parts: [ChangeSet]
    ) {
      guard path.count < 6 else {
        return body(path, parts, ChangeSet(version: 3, changes: joined.changes()))
      }
      for operation in operations {
        var (split, joined, parts) = (split, joined, parts)
        guard split.perform(operation), joined.perform(operation) else { continue }
        if path.count % 2 == 1 { parts.append(split.commit()) }
        explore(split, joined, path + [operation], parts)
      }
    }
    for initial in [[:], [1: 7], [1: 7, 2: 8]] as [[Int64: Int64]] {
      explore(History(initial), History(initial), [], [])
    }
  }

  @Test func coalescedCommitsEqualOneTransaction() {
    var checked = 0
    Self.forEachHistory { path, parts, whole in
      checked += 1
      let folded = parts.dropFirst().reduce(parts[0]) { $0.followed(by: $1, fields: Self.fields) }
      if Self.sorted(folded) != Self.sorted(whole) {
        Issue.record("\(path): \(folded.changes.map(\.line)), not \(whole.changes.map(\.line))")
      }
    }
    #expect(checked > 2_000)
  }

  @Test func coalescingIsAssociative() {
    Self.forEachHistory { path, parts, _ in
      let left = parts[0].followed(by: parts[1], fields: Self.fields)
        .followed(by: parts[2], fields: Self.fields)
      let right = parts[0].followed(
        by: parts[1].followed(by: parts[2], fields: Self.fields), fields: Self.fields)
      if Self.sorted(left) != Self.sorted(right) {
        Issue.record("\(path): \(left.changes.map(\.line)) and \(right.changes.map(\.line))")
      }
    }
  }

  @Test func aChangeAndItsInverseCancelOut() {
    Self.forEachHistory { path, parts, _ in
      for part in parts {
        let inverse = ChangeSet(version: 9, changes: part.changes.map(\.inverse))
        let nothing = part.followed(by: inverse, fields: Self.fields)
        if nothing != ChangeSet(version: 9, changes: []) {
          Issue.record("\(path): \(nothing.changes.map(\.line))")
        }
      }
    }
  }
}

extension ChangeSet {
  /// Both changes as an observer of the fields receives them at once.
  fileprivate func followed(
    by later: ChangeSet, fields: [(index: Int, name: String)]
  ) -> ChangeSet {
    var folded = Folded<[SQLValue], RecordChange>()
    for change in changes { folded.fold(change.key) { _ in change } }
    for change in later.changes {
      folded.fold(change.key) { $0.map { $0.followed(by: change, fields: fields) } ?? change }
    }
    return ChangeSet(version: later.version, changes: folded.entries)
  }
}

extension RecordChange {
  /// What takes the change back.
  fileprivate var inverse: RecordChange {
    RecordChange(
      model: model, key: key, old: new, new: old,
      fields: fields.map {
        ChangedField(name: $0.name, old: $0.new, new: $0.old, origin: $0.origin)
      },
      origin: origin, isRecreated: isRecreated)
  }
}
