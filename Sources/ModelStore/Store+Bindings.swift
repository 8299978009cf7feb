extension Store {
  /// Adds a binding to the file: existing records are put right, and from then on it holds for
  /// every writer. One of the same name is replaced. Rules of the file hold for the values that
  /// records get now; validators in Swift are not asked about them.
  ///
  /// - Parameters:
  ///   - mode: ``WriteMode/preview`` rolls it back again and tells how many records would be put
  ///     right or why the binding would be refused, and nothing is announced.
  ///   - onProgress: Called on this thread every some thousand records and at the end, with how
  ///     many were looked at and how many there are to look at; writers wait meanwhile. What it
  ///     throws ends the work, and nothing was changed. It must not use the store.
  /// - Returns: How many records did not hold their value: of this binding, and of others of the
  ///   same field whose turn it is because of it.
  /// - Throws: ``StoreError`` with code `unknownModel`, `unknownField` or `unsupportedSchema` when
  ///   it cannot be kept, or not together with the others; `rejected` when a record does not take
  ///   its value. Then nothing was changed.
  /// - Complexity: Reads all records of the bound models once, while writers wait.
  @discardableResult
  public func add(
    _ binding: FieldBinding, mode: WriteMode = .commit,
    onProgress: (_ done: Int, _ all: Int) throws -> Void = { _, _ in }
  ) throws -> Int {
    try open.catalog.add(binding, mode: mode, onProgress: onProgress)
  }

  /// The bindings by which values come into a field: its own and, before it, those that the fields
  /// follow which it depends on. A generated column depends on the columns that it is computed
  /// from, and a reference with ON UPDATE on the key that it follows.
  ///
  /// - Returns: Sources before what follows them; empty for a field that nothing is bound to.
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

  /// The fields that SQLite computes, each with those that it is computed from at once: generated
  /// columns, and references that ON UPDATE makes follow the key that they name. Columns that are
  /// no fields are named as columns.
  ///
  /// - Throws: ``StoreError`` when the file cannot be read.
  package func computedFields() throws -> [BindingSchema.Field: [BindingSchema.Field]] {
    try open.catalog.computedFields()
  }

  /// Drops a binding: its field keeps the values that it has and follows nothing from then on, for
  /// every writer. A program that declares the binding installs it again when it opens the file.
  ///
  /// To be called before a field or table that a binding names is dropped.
  ///
  /// - Parameter mode: ``WriteMode/preview`` rolls it back again and tells, and nothing is
  ///   announced.
  /// - Returns: How many records got another value, from another binding of the field whose turn it
  ///   is now.
  /// - Throws: ``StoreError`` with code `unknownBinding` when the file has none of that name,
  ///   `rejected` when a record does not take its value from the other one.
  @discardableResult
  public func dropBinding(_ name: String, mode: WriteMode = .commit) throws -> Int {
    try open.catalog.dropBinding(name, mode: mode)
  }

  /// Makes every binding true again, whatever happened to its triggers or to the records: what
  /// ``bindingFindings(maxKeyCount:)`` finds is mended. Observers are told of each value that was
  /// wrong.
  ///
  /// - Returns: The bindings of which records were wrong and how many, sources before what follows
  ///   them; empty when all values were right. Validators judge them. Values that an edited trigger
  ///   spoils again meanwhile are put right with the triggers, and observers look anew.
  /// - Throws: ``StoreError`` when a binding names what is not there any more, when a rule refuses
  ///   a value, or when a trigger of the application changes one back. The values that were mended
  ///   before triggers are made anew stay.
  /// - Complexity: Reads all records of each bound model once for each binding, while writers wait.
  @discardableResult
  public func rebuildBindings() throws -> [(binding: String, recordCount: Int)] {
    try open.catalog.rebuildBindings()
  }

  /// Rebuilds the bindings as ``rebuildBindings()`` does, except those whose tables SQLite cannot
  /// read here or whose expressions it refuses. Triggers of these stay as they are.
  ///
  /// - Parameter mode: ``WriteMode/preview`` rolls it back again and tells, and nothing is
  ///   announced.
  /// - Throws: As ``rebuildBindings()``.
  package func rebuildReadableBindings(mode: WriteMode) throws -> BindingsRebuild {
    try open.catalog.rebuildReadableBindings(mode: mode)
  }

  /// Puts every bound value right as ``rebuildBindings()`` does, then rolls that back: tells which
  /// records it would change, or why it would be refused. Nothing is announced.
  ///
  /// - Returns: As ``rebuildBindings()``.
  /// - Throws: ``StoreError`` when a binding names what is not there any more, or when a rule
  ///   refuses a value.
  package func previewBindingsRebuild() throws -> [(binding: String, recordCount: Int)] {
    try open.catalog.previewBindingsRebuild()
  }
}
