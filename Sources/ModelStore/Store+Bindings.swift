extension Store {
  /// Adds a binding to the file. Existing records are updated, and from then on the binding applies
  /// to every writer. It replaces a binding of the same name.
  ///
  /// Rules in the file check the values that records get now; validators in Swift do not.
  ///
  /// - Parameters:
  ///   - mode: ``WriteMode/preview`` rolls back again and returns how many records would be
  ///     updated, or throws why the binding would be refused. Observers are not notified.
  ///   - onProgress: Called on this thread after every few thousand records and at the end, with
  ///     the number of records done and the total; writers wait meanwhile. If it throws, the work
  ///     ends and nothing was changed. It must not use the store.
  /// - Returns: How many records had another value than the binding's. This includes other bindings
  ///   of the same field that take effect because of this one.
  /// - Throws: ``StoreError`` with code `unknownModel`, `unknownField` or `unsupportedSchema` when
  ///   the binding cannot be kept, or conflicts with other bindings; `rejected` when a record
  ///   refuses its value. Then nothing was changed.
  /// - Complexity: Reads all records of the bound models once, while writers wait.
  @discardableResult
  public func add(
    _ binding: FieldBinding, mode: WriteMode = .commit,
    onProgress: (_ done: Int, _ all: Int) throws -> Void = { _, _ in }
  ) throws -> Int {
    try open.catalog.add(binding, mode: mode, onProgress: onProgress)
  }

  /// Returns the bindings that determine a field: its own and, before them, those of the fields
  /// that they depend on. A generated column depends on the columns of its expression, and a
  /// reference with ON UPDATE on the key to which it refers.
  ///
  /// - Returns: Sources before their targets; empty for a field without bindings.
  /// - Throws: ``StoreError`` with code `unknownModel` or `unknownField`.
  package func bindings(into field: BindingSchema.Field) throws -> [BindingSchema] {
    let model = try schema.model(named: field.model)
    guard let named = model.field(named: field.field) else {
      throw StoreError(
        .unknownField, "\(field.model) has no field \(field.field).", model: field.model,
        field: field.field)
    }
    return try open.catalog.bindings(into: named, of: model)
  }

  /// Returns the fields that SQLite computes, each with its direct sources: generated columns, and
  /// references that ON UPDATE keeps equal to a key. Columns that are not fields appear under their
  /// column names.
  ///
  /// - Throws: ``StoreError`` when the file cannot be read.
  package func computedFields() throws -> [BindingSchema.Field: [BindingSchema.Field]] {
    try open.catalog.computedFields()
  }

  /// Drops a binding. Its field keeps its values, and is no longer updated for any writer. A
  /// program that declares the binding installs it again when it opens the file.
  ///
  /// Call this before you drop a field or table that a binding names.
  ///
  /// - Parameter mode: ``WriteMode/preview`` rolls back again and returns the result. Observers are
  ///   not notified.
  /// - Returns: How many records got another value, from another binding of the field that takes
  ///   effect now.
  /// - Throws: ``StoreError`` with code `unknownBinding` when the file has none of that name,
  ///   `rejected` when a record refuses its value from the other binding.
  @discardableResult
  public func dropBinding(_ name: String, mode: WriteMode = .commit) throws -> Int {
    try open.catalog.dropBinding(name, mode: mode)
  }

  /// Repairs every binding: creates its triggers again and updates every record that
  /// ``bindingFindings(maxKeyCount:)`` finds. Observers are notified of each value that was wrong.
  ///
  /// Validators check the new values. If an edited trigger changes a value back meanwhile, that
  /// value is updated together with the triggers, and observers refetch.
  ///
  /// - Returns: The bindings with wrong records and their number, sources before their targets;
  ///   empty when all values were right.
  /// - Throws: ``StoreError`` when a binding names something that does not exist any more, when a
  ///   rule refuses a value, or when a trigger of the application changes one back. Values that
  ///   were updated before the triggers were created again stay.
  /// - Complexity: Reads all records of each bound model once for each binding, while writers wait.
  @discardableResult
  public func rebuildBindings() throws -> [(binding: String, recordCount: Int)] {
    try open.catalog.rebuildBindings()
  }

  /// Rebuilds the bindings as ``rebuildBindings()`` does, except those whose tables SQLite cannot
  /// read here or whose expressions it refuses. The triggers of these bindings stay as they are.
  ///
  /// - Parameter mode: ``WriteMode/preview`` rolls back again and returns the result. Observers are
  ///   not notified.
  /// - Throws: As ``rebuildBindings()``.
  package func rebuildReadableBindings(mode: WriteMode) throws -> BindingsRebuild {
    try open.catalog.rebuildReadableBindings(mode: mode)
  }

  /// Updates every bound value as ``rebuildBindings()`` does, then rolls back. Returns which
  /// records would change, or throws why the update would be refused. Observers are not notified.
  ///
  /// - Returns: As ``rebuildBindings()``.
  /// - Throws: ``StoreError`` when a binding names something that does not exist any more, or when
  ///   a rule refuses a value.
  package func previewBindingsRebuild() throws -> [(binding: String, recordCount: Int)] {
    try open.catalog.previewBindingsRebuild()
  }
}
