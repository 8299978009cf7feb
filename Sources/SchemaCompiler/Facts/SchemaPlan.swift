/// The changes that give a file the objects that it should have. A plain value: ``Reconciler``
/// carries it out.
///
/// A changed object is dropped and created again.
package struct SchemaPlan: Hashable, Sendable {
  /// Objects that the file has but should not have, or has with another text, in the file's order.
  package var dropped: [SchemaObject] = []
  /// Objects that the file should have but lacks, or has with another text, in the given order.
  package var created: [SchemaObject] = []
  /// ALTER TABLE statements that add columns.
  package var addedColumns: [SQLText] = []
  /// The bindings whose records must be updated, sources first.
  package var following: [BindingTriggers] = []
  /// Statements that update the store's own tables together with the objects.
  package var entries: [SQLText] = []
  /// Statements that update the store's own tables once the objects are in place.
  package var closingEntries: [SQLText] = []

  package init(dropped: [SchemaObject] = [], created: [SchemaObject] = []) {
    self.dropped = dropped
    self.created = created
  }

  /// - Parameter isConcerned: Selects the file's objects to compare; others are left unchanged.
  package init(
    from wanted: [SchemaObject], to installed: InstalledObjects,
    where isConcerned: (SchemaObject) -> Bool = { _ in true }
  ) {
    let wantedObjects = InstalledObjects(wanted)
    dropped = installed.objects.filter { isConcerned($0) && !wantedObjects.holds($0) }
    created = wanted.filter { !installed.holds($0) }
  }

  /// Whether the file needs no changes.
  package var isEmpty: Bool {
    dropped.isEmpty && created.isEmpty && addedColumns.isEmpty && entries.isEmpty
  }

  /// One step of a plan.
  package enum Step: Hashable, Sendable {
    /// Checks that SQLite accepts the binding's expressions, and that the binding finds at most one
    /// record.
    case checkExpressions(BindingTriggers)
    case drop(SchemaObject)
    case create(SchemaObject)
    case addColumn(SQLText)
    /// Checks that SQLite finds every table and column that the binding names.
    case checkNames(BindingTriggers)
    /// Updates the bound values of existing records.
    case synchronise(BindingTriggers)
    case write(SQLText)
    /// Verifies that the records of a binding have kept their values.
    case verify(BindingTriggers)
  }

  /// All steps in order. Triggers are dropped first and created last. So they never name a missing
  /// table, and no trigger of a binding runs while its values are being filled in.
  package var steps: [Step] {
    let dropped = SchemaObject.Kind.allCases.reversed().flatMap { kind in
      self.dropped.filter { $0.kind == kind }
    }
    return following.map(Step.checkExpressions) + dropped.map(Step.drop)
      + creations(of: .table) + addedColumns.map(Step.addColumn) + creations(of: .index)
      + following.map(Step.checkNames) + following.map(Step.synchronise)
      + entries.map(Step.write) + creations(of: .trigger) + following.map(Step.verify)
      + closingEntries.map(Step.write)
  }

  /// SQLite guarantees no order of triggers, but runs the youngest one first. So the triggers of
  /// bindings are created in reverse order, sources last, and dependent values are computed only
  /// once. This affects only performance.
  private func creations(of kind: SchemaObject.Kind) -> [Step] {
    let objects = created.filter { $0.kind == kind }
    guard kind == .trigger else { return objects.map(Step.create) }
    let ofBindings = objects.filter { $0.owner?.part == .bindings }
    let others = objects.filter { $0.owner?.part != .bindings }
    return (ofBindings.reversed() + others).map(Step.create)
  }
}

extension SchemaPlan {
  /// The differences by owner, each sorted by name.
  ///
  /// - Precondition: The plan compares objects one by one.
  package var differences: [SchemaObject.Owner: [SchemaDrift.Difference]] {
    let wanted = Set(created.map(\.identity))
    let found = Set(dropped.map(\.identity))
    var differences: [SchemaObject.Owner: [SchemaDrift.Difference]] = [:]
    func add(_ object: SchemaObject, _ reason: SchemaDrift.Difference.Reason) {
      guard let owner = object.owner else { return }
      differences[owner, default: []].append(SchemaDrift.Difference(object, reason))
    }
    for object in created { add(object, found.contains(object.identity) ? .changed : .missing) }
    for object in dropped where !wanted.contains(object.identity) { add(object, .unexpected) }
    return differences.mapValues { $0.sorted { $0.name < $1.name } }
  }
}

extension SchemaDrift.Difference {
  package init(_ object: SchemaObject, _ reason: Reason) {
    let subject: Subject =
      switch object.kind {
      case .table: .table
      case .index: .index
      case .trigger: .trigger
      }
    self.init(subject, object.name, reason)
  }
}
