/// Feeds the preupdate hook of one transaction into a ``ChangeCapture``, and reads the final rows.
final class CaptureSession {
  private let plan: CapturePlan
  private let earlier: EarlierImages?
  /// Not checked for exclusivity at each access, because the hook runs for each row. While it is in
  /// use, no SQL runs that could call the hook, and no code of the application.
  @exclusivity(unchecked) private var state: CapturedRows

  /// - Parameter earlier: What earlier writes of the same transaction left, if it is shared.
  init(plan: CapturePlan, after earlier: EarlierImages? = nil) {
    self.plan = plan
    self.earlier = earlier
    earlier?.beginWrite()
    state = CapturedRows(plan: plan, capturesAll: earlier != nil)
  }

  func start(on connection: Connection) {
    connection.hooks.onRowChange { [unowned self] row in record(row) }
    guard state.tracker.needsTriggerNames else { return }
    connection.hooks.onProgramStart { [unowned self] start in
      switch start {
      case .statement(let number):
        state.tracker.statementStarted()
        state.causes.statementStarted(number)
      case .trigger(let name): state.tracker.triggerStarted(name)
      case .step: break
      }
    }
  }

  func stop(on connection: Connection) {
    connection.hooks.onRowChange(nil)
    connection.hooks.onProgramStart(nil)
  }

  var savepoint: ChangeCapture.Savepoint { state.capture.savepoint }

  func rollBack(to savepoint: ChangeCapture.Savepoint) {
    state.capture.rollBack(to: savepoint)
    // The rollback may have undone a schema change.
    forgetTableNames()
  }

  func forgetTableNames() {
    state.tables.forget()
    state.causes.forgetTableNames()
  }

  /// The names of the captured models.
  var models: Set<String> { plan.models }

  /// Returns the net changes of the transaction so far.
  ///
  /// - Parameters:
  ///   - connection: The writing connection, inside the transaction.
  ///   - snapshot: Passes a connection that sees the store as before the transaction.
  func netChanges(
    on connection: Connection,
    snapshot: ((Connection) throws -> [SQLValue]?) throws -> [SQLValue]?
  ) throws -> [RecordChange] {
    if let failure = state.failure {
      throw StoreError(failure.error, reading: plan.tables[failure.table].schema)
    }
    let capture = state.capture
    return try capture.netChanges(
      tables: plan.tables,
      before: { place in
        let row = capture.rows[place]
        if let image = self.earlier?.image(of: row) { return image }
        return try snapshot { try self.read(row, on: $0) }
      },
      after: { place in
        let latest = capture.latestImage(of: place, failureCount: Statement.failureCount)
        let image = try latest ?? self.read(capture.rows[place], on: connection)
        if let earlier {
          let row = capture.rows[place]
          earlier.add(image, of: row, in: self.plan.tables[row.table])
        }
        return image
      })
  }

  /// Makes the rows as they are now visible to later writes of the same transaction.
  func keepImages() { earlier?.keep() }

  private func read(
    _ row: ChangeCapture.TouchedRow, on connection: Connection
  ) throws -> [SQLValue]? {
    let table = plan.tables[row.table]
    return try connection.withStatement(table.rowText) { statement in
      switch row.identity {
      case .rowID(let number):
        var arguments = ArgumentWriter(statement: statement.handle)
        arguments.set(.integer(number), at: 0)
        try statement.check(arguments)
      case .key(let values): try statement.bind(values)
      }
      guard try statement.step() else { return nil }
      let row = RowView(statement: statement.handle)
      do throws(ColumnError) {
        return try table.image { place throws(ColumnError) in try row.value(at: place) }
      } catch {
        throw StoreError(error, reading: table.schema)
      }
    }
  }

  /// Records a row. It is the preupdate hook, so it must not throw and must not use the connection.
  func record(_ row: borrowing PreupdateRow) { state.note(row) }
}

/// What the preupdate hook has reported so far.
private struct CapturedRows {
  private let plan: CapturePlan
  /// Whether each change is captured, although it may concern no observer.
  private let capturesAll: Bool
  var capture = ChangeCapture()
  var tracker: OriginTracker
  var causes: CauseTracker
  var tables: HookedTables
  /// A value that could not be read, for example text that is not UTF-8. The changes are then not
  /// known exactly, so the transaction fails.
  private(set) var failure: (table: Int, error: ColumnError)?

  init(plan: CapturePlan, capturesAll: Bool) {
    self.plan = plan
    self.capturesAll = capturesAll
    tracker = plan.tracker
    causes = plan.causes
    tables = plan.hooked
  }

  mutating func note(_ row: borrowing PreupdateRow) {
    guard failure == nil else { return }
    if tracker.needsTriggerNames, row.depth == 0 { causes.note(row) }
    guard let number = tables.number(of: row) else { return }
    do {
      try note(row, in: number)
    } catch let error as ColumnError {
      failure = (number, error)
    } catch {
      failure = (number, ColumnError(problem: .unrepresentable("\(error)")))
    }
  }

  private mutating func note(_ row: borrowing PreupdateRow, in number: Int) throws {
    let table = plan.tables[number]
    let origin = tracker.origin(depth: row.depth, table: table.schema.table)
    let provenance = Provenance(origin, cause: origin.isTriggered ? causes.cause : nil)
    // A snapshot has no state between the writes of a shared transaction.
    let isWanted = capturesAll || plan.concerns?(table, row) ?? true
    func before() throws -> ChangeCapture.FirstImage {
      // This image is rarely needed, so a snapshot supplies it then.
      try isWanted ? row.firstImage(in: table) : ChangeCapture.FirstImage(needsSnapshot: true)
    }
    switch row.operation {
    case .insert:
      capture.inserting(
        table: number, identity: try row.identity(in: table, after: true), by: provenance,
        isWanted: isWanted)
    case .delete:
      try capture.deleting(
        table: number, identity: row.identity(in: table, after: false), by: provenance,
        isWanted: isWanted, before: before)
    case .update:
      let old = try row.identity(in: table, after: false)
      let new = try row.identity(in: table, after: true)
      guard old == new else {
        try capture.deleting(
          table: number, identity: old, by: provenance, isWanted: isWanted, before: before)
        capture.inserting(table: number, identity: new, by: provenance, isWanted: isWanted)
        return
      }
      let place = try capture.updating(
        table: number, identity: old, by: provenance, isWanted: isWanted, before: before)
      try noteFields(row, at: place, in: table, by: provenance)
      guard isWanted, !table.needsSnapshot else { return }
      capture.setLatest(
        row.latestImage(in: table), of: place, failureCount: Statement.failureCount)
    }
  }

  /// Records the origin of each changed field, if it differs from the origin of the row's first
  /// change.
  private mutating func noteFields(
    _ row: borrowing PreupdateRow, at place: Int, in table: TrackedTable, by provenance: Provenance
  ) throws {
    guard capture.mayDiffer(provenance, at: place) else { return }
    for field in table.fields {
      guard let column = table.storedColumns[field] else { continue }
      if try row.old(at: column) != row.new(at: column) {
        capture.setProvenance(provenance, ofField: field, at: place)
      }
    }
  }
}

extension PreupdateRow {
  /// Returns the row as the update leaves it; nil if a value cannot be read. That matters only if
  /// the value is still there when the transaction ends, and then the row is read from its table.
  fileprivate func latestImage(in table: TrackedTable) -> [SQLValue]? {
    do throws(ColumnError) {
      return try table.image { place throws(ColumnError) -> SQLValue in
        guard let column = table.storedColumns[table.fields[place]] else { return .null }
        return try new(at: column)
      }
    } catch {
      return nil
    }
  }

  fileprivate func firstImage(in table: TrackedTable) throws -> ChangeCapture.FirstImage {
    guard !table.needsSnapshot else {
      return ChangeCapture.FirstImage(values: nil, needsSnapshot: true)
    }
    let image = try table.image { place throws(ColumnError) -> SQLValue in
      // Each column is stored, because the table needs no snapshot.
      guard let column = table.storedColumns[table.fields[place]] else { return .null }
      return try old(at: column)
    }
    // A NULL in such a field may be a default that an old row does not store. Only SQL returns the
    // default.
    let isDoubtful = table.fieldsWithDefault.contains { image[$0].isNull }
    return ChangeCapture.FirstImage(values: isDoubtful ? nil : image, needsSnapshot: isDoubtful)
  }

  fileprivate func identity(
    in table: TrackedTable, after: Bool
  ) throws -> ChangeCapture.RowIdentity {
    if table.isKnownByRowID { return .rowID(after ? newRowID : oldRowID) }
    return .key(try key(in: table, isNew: after))
  }
}
