extension Store {
  /// The rules that were added to the file's models, by name, this program's and others'. Those in
  /// the definitions of tables are in ``schema``.
  public func rules() throws -> [Rule] {
    try open.catalog.catalogEntries(.rules)
  }

  /// The stored records that break `rule`, whether the file has it or not: for looking before
  /// adding it.
  ///
  /// - Parameter maxKeyCount: The most keys told, at least 0.
  /// - Returns: nil when none does, and for a field that must not change, since no record shows
  ///   that it did.
  /// - Throws: ``StoreError`` as ``add(_:existingViolations:)`` does when the rule cannot be kept.
  /// - Complexity: Reads all records of the model; for a rule about several records also those that
  ///   count together with each, which an index of the fields of `per` makes few. Of a unique rule
  ///   it sorts the values.
  public func finding(of rule: Rule, maxKeyCount: Int = 5) throws -> RuleFinding? {
    try open.catalog.finding(of: rule, maxKeyCount: maxKeyCount)
  }

  /// Adds a rule to the file, or changes the one of that name: from then on it binds every writer.
  /// No record is touched, and nothing else of the table.
  ///
  /// - Parameter existingViolations: ``ExistingViolations/keep`` adds it although records break it.
  ///   They stay as they are until something changes the rule's fields in them. A unique rule
  ///   cannot be added so.
  /// - Returns: The records that break it, their first keys; nil when none does.
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

  /// Drops a rule that was added. Records stay as they are. A program that declares it enters it
  /// again when it opens the file.
  ///
  /// - Throws: ``StoreError`` with code `unknownRule` when there is none of that name,
  ///   `unsupportedSchema` when it stands in the definition of a table, which takes a migration.
  public func dropRule(_ name: String) throws {
    try open.catalog.dropRule(name)
  }

  /// Creates the triggers and indexes of rules again that ``schemaDrift()`` reports, and drops
  /// those of no rule. No record is touched: those that came to break a rule meanwhile stay as they
  /// are until something changes the rule's fields in them.
  ///
  /// - Returns: What differed, by the names of rules.
  /// - Throws: ``StoreError`` with code `rejected`, listing and counting them, when records break a
  ///   unique rule; `schemaMismatch` when a table is not as its model says. Then nothing was
  ///   changed.
  /// - Complexity: Reads all records of each model whose unique rule is not kept, while writers
  ///   wait.
  @discardableResult
  public func rebuildRules() throws -> [SchemaDrift] {
    try open.catalog.rebuildRules()
  }
}

extension Store {
  /// What is wrong with a record or draft if it were written now: by itself, and with the records
  /// that are there. Without a store ask the value: ``Insertable/violations()``.
  ///
  /// - Returns: As ``TransactionReads/violations(of:)``; empty when nothing is wrong.
  public func violations<Value: Insertable>(of value: Value) throws -> [Violation] {
    try read { reads in try reads.violations(of: value) }
  }
}
