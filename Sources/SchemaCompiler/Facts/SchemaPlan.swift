/// What has to happen to a file so that it has the objects that it should have. A plain value:
/// ``Reconciler`` carries it out.
///
/// An object that changes is dropped and created again.
package struct SchemaPlan: Hashable, Sendable {
  /// What the file has and should not have, or has in other words, in the file's order.
  package var dropped: [SchemaObject] = []
  /// What the file should have and does not have in these words, in the order in which it was
  /// given.
  package var created: [SchemaObject] = []
  /// ALTER TABLE statements that add columns.
  package var addedColumns: [SQLText] = []
  /// The bindings whose records must follow, sources before what follows them.
  package var following: [BindingTriggers] = []
  /// What the store's own tables must say about the objects.
  package var entries: [SQLText] = []
  /// What the store's own tables must say once the objects are in place.
  package var closingEntries: [SQLText] = []

  package init(dropped: [SchemaObject] = [], created: [SchemaObject] = []) {
    self.dropped = dropped
    self.created = created
  }

  /// - Parameter isConcerned: Which of the file's objects are compared; the others stay.
  package init(
    from wanted: [SchemaObject], to installed: InstalledObjects,
    where isConcerned: (SchemaObject) -> Bool = { _ in true }
  ) {
    let wantedObjects = InstalledObjects(wanted)
    dropped = installed.objects.filter { isConcerned($0) && !wantedObjects.holds($0) }
    created = wanted.filter { !installed.holds($0) }
  }

  /// Whether the file is as it should be.
  package var isEmpty: Bool {
    dropped.isEmpty && created.isEmpty && addedColumns.isEmpty && entries.isEmpty
  }

  /// One step of a plan.
  package enum Step: Hashable, Sendable {
    /// Asks SQLite whether it accepts the binding's expressions, and whether the binding finds one
    /// record at most.
    case checkExpressions(BindingTriggers)
    case drop(SchemaObject)
    case create(SchemaObject)
    case addColumn(SQLText)
    /// Asks SQLite whether it finds every table and column that the binding names.
    case checkNames(BindingTriggers)
    /// Gives the records of a binding the values that it demands.
    case synchronise(BindingTriggers)
    case write(SQLText)
    /// Makes sure that the records of a binding have kept their values.
    case verify(BindingTriggers)
  }

  /// All that is to be done, in order. Triggers go first and come last, so that they never name a
  /// table that is not there and no trigger of a binding runs while its values are filled in.
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

  /// SQLite promises no order but runs the youngest trigger first. So the triggers of bindings are
  /// created in reverse, those of sources last: what follows them is then computed once. Only the
  /// saved work depends on it.
  private func creations(of kind: SchemaObject.Kind) -> [Step] {
    let objects = created.filter { $0.kind == kind }
    guard kind == .trigger else { return objects.map(Step.create) }
    let ofBindings = objects.filter { $0.owner?.part == .bindings }
    let others = objects.filter { $0.owner?.part != .bindings }
    return (ofBindings.reversed() + others).map(Step.create)
  }
}

extension SchemaPlan {
  /// What differs, by owner, each in the order of names.
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
