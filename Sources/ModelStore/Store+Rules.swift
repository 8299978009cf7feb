extension Store {
  /// Returns the rules that were added to the file's models, by name, including those of other
  /// programs. The rules in the definitions of tables are in ``schema``.
  public func rules() throws -> [Rule] {
    try open.catalog.catalogEntries(.rules)
  }

  /// Returns the stored records that break `rule`. The rule need not be in the file, so you can
  /// check before you add it.
  ///
  /// - Parameter maxKeyCount: The maximum number of keys returned, at least 0.
  /// - Returns: nil when no record breaks it, and for a field that must not change, because records
  ///   do not show past changes.
  /// - Throws: ``StoreError`` as ``add(_:existingViolations:)`` does when the rule cannot be kept.
  /// - Complexity: Reads all records of the model. For a rule about several records, also the
  ///   records that count together with each; an index of the fields of `per` makes these few. For
  ///   a unique rule it sorts the values.
  public func finding(of rule: Rule, maxKeyCount: Int = 5) throws -> RuleFinding? {
    try open.catalog.finding(of: rule, maxKeyCount: maxKeyCount)
  }

  /// Adds a rule to the file, or changes the rule of that name. From then on it applies to every
  /// writer. Records and the rest of the table are not changed.
  ///
  /// - Parameter existingViolations: ``ExistingViolations/keep`` adds the rule although records
  ///   break it. They stay as they are until a write changes the rule's fields in them. A unique
  ///   rule cannot be added in this way.
  /// - Returns: The number and first keys of the records that break it; nil when there are none.
  /// - Throws: ``StoreError`` with code `rejected`, listing and counting the records that break it;
  ///   `unknownModel`, `unknownField` or `unsupportedSchema` when it cannot be kept;
  ///   `configurationConflict` when a rule in a table's definition or in Swift has its name. Then
  ///   nothing was changed.
  /// - Complexity: As of ``finding(of:maxKeyCount:)``, while writers wait.
  @discardableResult
  public func add(_ rule: Rule, existingViolations: ExistingViolations = .refuse) throws
    -> RuleFinding?
  {
    try open.catalog.add(rule, existingViolations: existingViolations)
  }

  /// Drops an added rule. Records stay as they are. A program that declares the rule adds it again
  /// when it opens the file.
  ///
  /// - Throws: ``StoreError`` with code `unknownRule` when no rule has that name,
  ///   `unsupportedSchema` when it is part of the definition of a table: write a migration for
  ///   that.
  public func dropRule(_ name: String) throws {
    try open.catalog.dropRule(name)
  }

  /// Recreates the triggers and indexes of rules that ``schemaDrift()`` reports, and drops those
  /// that belong to no rule. Records are not changed. Existing violations stay until a write
  /// changes the rule's fields in them.
  ///
  /// - Returns: What differed, by the names of rules.
  /// - Throws: ``StoreError`` with code `rejected`, listing and counting them, when records break a
  ///   unique rule; `schemaMismatch` when a table differs from its model. Then nothing was changed.
  /// - Complexity: Reads all records of each model whose unique rule has drifted, while writers
  ///   wait.
  @discardableResult
  public func rebuildRules() throws -> [SchemaDrift] {
    try open.catalog.rebuildRules()
  }
}

extension Store {
  /// Returns the rules that a record or draft would break if it were written now, alone or together
  /// with the stored records. Without a store, use ``Insertable/violations()``.
  ///
  /// - Returns: As ``TransactionReads/violations(of:)``; empty when the value is valid.
  public func violations<Value: Insertable>(of value: Value) throws -> [Violation] {
    try read { reads in try reads.violations(of: value) }
  }
}

extension Store {
  /// Whether one of the models has rules that only warn, so that its records may break them.
  package func hasWarningRules(of models: [ModelSchema]) throws -> Bool {
    let names = Set(models.map(\.name))
    return try open.models.warningRules.contains { names.contains($0.model) }
  }
}
