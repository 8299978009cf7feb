// Bindings that are in the file.
extension StoreCore {
  func add(
    _ binding: Binding, isPreview: Bool, onProgress: (_ done: Int, _ all: Int) throws -> Void
  ) throws -> Int {
    try changingCatalog(isPreview: isPreview) { connection in
      let models = self.models.schema.models
      let schema = try binding.schema(in: models)
      try self.checkFunctions(of: [schema])
      let others = try CatalogEntries.bindings.read(on: connection)
        .filter { $0.name != schema.name }
      let synchronised = try BindingInstallation(others + [schema], in: models, on: connection)
        .apply(to: connection, onProgress: onProgress)
      if !isPreview { try CatalogEntries.bindings.write([schema], on: connection) }
      return synchronised.reduce(0) { $0 + $1.recordCount }
    }
  }

  /// Lets `bindings`, which are all of their target now, take over from one that is gone.
  ///
  /// - Returns: How many records had to follow.
  private func follow(_ bindings: [BindingSchema], on connection: Connection) throws -> Int {
    let models = self.models.schema.models
    // A binding may be dropped because a model or field is gone.
    let kept = bindings.filter { ResolvedBinding.canResolve($0, in: models) }
    return try BindingInstallation(kept, in: models, on: connection).apply(to: connection)
      .reduce(0) { $0 + $1.recordCount }
  }

  /// Refuses declared bindings that this program cannot keep itself.
  func checkFunctions(of bindings: [BindingSchema]) throws(StoreError) {
    let known = Set(configuration.functions.map(\.name.asciiFolded))
    for binding in bindings {
      guard let name = binding.functions?.first(where: { !known.contains($0) }) else { continue }
      throw StoreError(
        .unknownFunction,
        "The binding \(binding.name) calls the function \(name), which this store was not given. "
          + "Add it to StoreConfiguration.functions.",
        model: binding.target.model, field: binding.target.field)
    }
  }

  func dropBinding(_ name: String, isPreview: Bool) throws -> Int {
    try changingCatalog(isPreview: isPreview) { connection in
      let bindings = try CatalogEntries.bindings.read(on: connection)
      guard let dropped = bindings.first(where: { $0.name.isExactly(name) }) else {
        throw StoreError(.unknownBinding, "There is no binding \(name) in this store.")
      }
      _ = try BindingInstallation.remove(name, from: connection)
      let recordCount = try self.follow(
        bindings.filter { $0.target == dropped.target && $0 != dropped }, on: connection)
      if !isPreview { try CatalogEntries.bindings.remove([name], on: connection) }
      return recordCount
    }
  }

  func rebuildBindings() throws -> [(binding: String, recordCount: Int)] {
    // Values first, in a transaction like any other: so observers are told exactly, and making the
    // triggers anew finds nothing to put right.
    let mended = try commit { tx in try self.synchroniseBindings(on: tx.access.connection) }
    let made = try changingCatalog { connection in
      try self.installedBindings(on: connection).apply(to: connection)
    }
    let others = made.filter { made in !mended.contains { $0.binding == made.binding } }
      .map { (binding: $0.binding, recordCount: $0.recordCount) }
    return mended + others.filter { $0.recordCount > 0 }
  }

  func previewBindingsRebuild() throws -> [(binding: String, recordCount: Int)] {
    try writer.sync { writer in
      try write(&writer, ending: .rollback) { tx in
        try self.synchroniseBindings(on: tx.access.connection)
      }.value
    }
  }

  /// Puts every record right that is not.
  ///
  /// - Returns: The bindings of which some were wrong, and how many.
  private func synchroniseBindings(
    on connection: Connection
  ) throws -> [(binding: String, recordCount: Int)] {
    let found = try BindingInstallation.objects(in: connection)
    let bindings = try installedBindings(on: connection).bindings
      .filter { try $0.missingFunction(on: connection) == nil }
    // Of all first: a value that is put right sets off the triggers of others.
    for binding in bindings { try binding.restoreStorage(besides: found, on: connection) }
    return
      try bindings.map { binding in
        (binding: binding.binding.name, recordCount: try binding.synchronise(on: connection))
      }
      .filter { $0.recordCount > 0 }
  }

  private func installedBindings(on connection: Connection) throws -> BindingInstallation {
    try BindingInstallation(
      try CatalogEntries.bindings.read(on: connection), in: models.schema.models, on: connection)
  }

  /// What is wrong with the bindings of the file.
  func bindingFindings(keyCountMax: Int) throws -> [BindingFinding] {
    try readingBindings { bindings, connection in
      try bindings.findings(on: connection, keyCountMax: keyCountMax)
    }
  }

  func bindingLosses() throws -> [BindingLoss] {
    try readingBindings { bindings, connection in
      try bindings.bindings.compactMap { binding in
        guard try binding.missingFunction(on: connection) == nil else { return nil }
        let count = try binding.lossyRecordCount(on: connection)
        return count == 0
          ? nil : BindingLoss(binding: binding.binding.name, recordCount: count)
      }
    }
  }

  /// The bindings that `field` of `model` follows, sources first.
  func bindings(into field: FieldSchema, of model: ModelSchema) throws -> [BindingSchema] {
    try readingBindings { bindings, connection in
      let generated = try GeneratedColumns(of: self.models.schema.models, on: connection)
      return bindings.chain(into: generated.origins(of: [.init(model, field)]))
    }
  }

  /// See ``Store/computedFields()``.
  func computedFields() throws -> [BindingSchema.Field: [BindingSchema.Field]] {
    try readers.sync { connection in
      try GeneratedColumns(of: models.schema.models, on: connection).computed
    }
  }

  private func readingBindings<Result>(
    _ body: (BindingInstallation, Connection) throws -> Result
  ) throws -> Result {
    try readers.sync { connection in
      try read(connection) { reads in
        let connection = reads.access.connection
        return try body(try self.installedBindings(on: connection), connection)
      }
    }
  }
}
