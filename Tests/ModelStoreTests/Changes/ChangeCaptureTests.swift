import Testing

@testable import ModelStore

/// The state machine alone: every short interleaving of row operations, savepoints and rollbacks,
/// compared with a model that keeps whole copies.
@Suite(.tags(.unit)) struct ChangeCaptureTests {
  enum Operation: CaseIterable, CustomStringConvertible {
    case insert1, update1, delete1, insert2, update2, delete2, savepoint, rollBack

    var row: Int64 {
      switch self {
      case .insert2, .update2, .delete2: 2
      default: 1
      }
    }

    var description: String {
      switch self {
      case .insert1: "I1"
      case .update1: "U1"
      case .delete1: "D1"
      case .insert2: "I2"
      case .update2: "U2"
      case .delete2: "D2"
      case .savepoint: "S"
      case .rollBack: "R"
      }
    }
  }

  /// - Parameter isKnownByRowID: Whether rows are records, so that nothing is joined by keys.
  private static func makeTable(isKnownByRowID: Bool) -> TrackedTable {
    TrackedTable(
      schema: ModelSchema(
        name: "t",
        fields: [
          FieldSchema(name: "id", type: .integer, isRowID: isKnownByRowID),
          FieldSchema(name: "v", type: .integer),
        ],
        key: ["id"]),
      columns: [
        TrackedTable.ColumnFacts(
          name: "id", hasDefault: false,
          stored: StoredColumn.Facts(
            declaredType: "INTEGER", isVirtual: false, keyPosition: 1)),
        TrackedTable.ColumnFacts(
          name: "v", hasDefault: false,
          stored: StoredColumn.Facts(
            declaredType: "INTEGER", isVirtual: false, keyPosition: 0)),
      ], wanted: nil)
  }

  static let table = makeTable(isKnownByRowID: false)
  static let tableKnownByRowID = makeTable(isKnownByRowID: true)

  /// One row as the model sees it: its value and the rest of its history in the transaction.
  private struct NaiveRow: Equatable {
    var value: Int64?
    var history: [(kind: RecordChange.Operation, origin: Origin)] = []

    static func == (left: NaiveRow, right: NaiveRow) -> Bool { left.value == right.value }
  }

  private struct Run {
    let initial: [Int64: Int64]
    var rows: [Int64: NaiveRow]
    var copies: [[Int64: NaiveRow]] = []
    var capture = ChangeCapture()
    var savepoints: [ChangeCapture.Savepoint] = []
    var step: Int64 = 0

    init(_ initial: [Int64: Int64]) {
      self.initial = initial
      rows = initial.mapValues { NaiveRow(value: $0) }
    }

    /// Returns false for an operation that the state does not allow.
    mutating func perform(_ operation: Operation) -> Bool {
      step += 1
      let origin = Origin.trigger("\(step)")
      let number = operation.row
      let identity = ChangeCapture.RowIdentity.rowID(number)
      var row = rows[number] ?? NaiveRow()
      let image = row.value.map { [SQLValue.integer(number), .integer($0)] }
      func before() -> ChangeCapture.FirstImage { ChangeCapture.FirstImage(values: image) }
      switch operation {
      case .insert1, .insert2:
        guard row.value == nil else { return false }
        // As before the transaction, so that a row can come back as it was.
        row.value = initial[number] ?? 0
        row.history.append((.insert, origin))
        capture.inserting(table: 0, identity: identity, by: Provenance(origin))
      case .update1, .update2:
        guard row.value != nil else { return false }
        row.value = 100 + step
        row.history.append((.update, origin))
        let place = capture.updating(
          table: 0, identity: identity, by: Provenance(origin), before: before)
        if origin != capture.rows[place].provenance.origin || capture.rows[place].hasMarks {
          capture.setProvenance(Provenance(origin), ofField: 1, at: place)
        }
      case .delete1, .delete2:
        guard row.value != nil else { return false }
        row.value = nil
        row.history.append((.delete, origin))
        capture.deleting(table: 0, identity: identity, by: Provenance(origin), before: before)
      case .savepoint:
        copies.append(rows)
        savepoints.append(capture.savepoint)
        return true
      case .rollBack:
        guard let copy = copies.popLast(), let savepoint = savepoints.popLast() else {
          return false
        }
        rows = copy
        capture.rollBack(to: savepoint)
        return true
      }
      rows[number] = row
      return true
    }

    var expected: [RecordChange] {
      ([1, 2] as [Int64]).compactMap { number in
        let row = rows[number] ?? NaiveRow()
        let old = initial[number]
        guard old != row.value else { return nil }
        func image(_ value: Int64) -> [SQLValue] { [.integer(number), .integer(value)] }
        func last(_ kinds: RecordChange.Operation...) -> Origin? {
          row.history.last { kinds.contains($0.kind) }?.origin
        }
        let isUpdate = old != nil && row.value != nil
        let origin =
          isUpdate ? row.history.first?.origin : old == nil ? last(.insert) : last(.delete)
        return RecordChange(
          model: "t", key: [.integer(number)], old: old.map(image), new: row.value.map(image),
          fields: isUpdate
            ? [
              ChangedField(
                name: "v", old: old.map(SQLValue.integer) ?? .null,
                new: row.value.map(SQLValue.integer) ?? .null,
                origin: last(.insert, .update) ?? .user)
            ] : [], origin: origin ?? .user,
          isRecreated: isUpdate && row.history.contains { $0.kind == .insert })
      }
    }

    func reported(joining: Bool) -> [RecordChange] {
      let table = joining ? ChangeCaptureTests.table : ChangeCaptureTests.tableKnownByRowID
      return capture.netChanges(tables: [table], before: { capture.rows[$0].before }) { row in
        guard case .rowID(let number) = capture.rows[row].identity else { return nil }
        return rows[number]?.value.map { [.integer(number), .integer($0)] }
      }
      .sorted { $0.key.description < $1.key.description }
    }
  }

  @Test(arguments: [[:], [1: 7], [1: 7, 2: 8]] as [[Int64: Int64]])
  func everyShortInterleavingIsNetted(_ initial: [Int64: Int64]) {
    var checked = 0
    func explore(_ run: Run, _ path: [Operation]) {
      let reported = run.reported(joining: true)
      #expect(run.reported(joining: false) == reported, "\(initial) \(path)")
      let expected = run.expected
      if reported != expected {
        Issue.record(
          "\(path) from \(initial): \(reported.map(\.line)), not \(expected.map(\.line))")
      }
      checked += 1
      guard path.count < 5 else { return }
      for operation in Operation.allCases {
        var next = run
        if next.perform(operation) { explore(next, path + [operation]) }
      }
    }
    explore(Run(initial), [])
    #expect(checked > 1_000)
  }
}
