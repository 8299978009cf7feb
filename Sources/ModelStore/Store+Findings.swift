extension TransactionReads where Self: ~Copyable {
  /// Returns the records of `schema` for which `offence` is true; nil when there are none.
  borrowing func finding(
    _ violation: Violation, _ offence: SQLText, in schema: ModelSchema, maxKeyCount: Int
  ) throws -> RuleFinding? {
    let query = StoreQuery<DynamicRecord>(schema, where: .sql(offence))
    let count = try count(query)
    guard count > 0 else { return nil }
    let keys = try rows(query.limit(maxKeyCount).keySelectText()).map(\.values)
    return RuleFinding(violation: violation, count: count, keys: keys)
  }
}

extension Store {
  /// Checks every stored record of `schema` against its rules: required values, types of fields,
  /// references, conditions, and added rules, including those that only warn. Rules in Swift run
  /// only on writes.
  ///
  /// - Parameters:
  ///   - maxKeyCount: The maximum number of keys in one finding, at least 0.
  ///   - onProgress: Called on this thread before each pass over the records, with the number of
  ///     passes done and the total.
  /// - Returns: The broken rules, in the order of fields, then rules over several fields, then
  ///   texts that are not UTF-8. Empty for a view.
  /// - Complexity: Reads all records once for each rule.
  public func findings(
    in schema: ModelSchema, maxKeyCount: Int = 5,
    onProgress: (_ done: Int, _ all: Int) throws -> Void = { _, _ in }
  ) throws -> [RuleFinding] {
    guard schema.kind == .table else { return [] }
    let models = self.schema.models
    return try read { reads in
      let connection = reads.access.connection
      let rules = try FiledRules(
        try CatalogEntries.rules.understood(on: connection), in: models, on: connection
      ).kept
      let checks = RecordChecks(schema: schema, models: models, rules: rules).checks
      let broken = try checks.enumerated().compactMap { place, check in
        try onProgress(place, checks.count + 1)
        return try reads.finding(
          check.violation, check.offence, in: schema, maxKeyCount: maxKeyCount)
      }
      try onProgress(checks.count, checks.count + 1)
      return broken + (try Self.unreadableTexts(of: schema, reads, maxKeyCount))
    }
  }

  /// Returns the fields with texts that cannot be read: SQLite stores any bytes as text, also if
  /// they are not UTF-8.
  private static func unreadableTexts(
    of schema: ModelSchema, _ reads: borrowing ReadTransaction, _ maxKeyCount: Int
  ) throws -> [RuleFinding] {
    var found: [Int: (count: Int, keys: [[SQLValue]])] = [:]
    let text = try StoreQuery<DynamicRecord>(schema).selectText()
    try reads.access.runner.forEachRow(text, of: schema) { row in
      for index in schema.fields.indices where row.storageClass(at: index) == .text {
        do throws(ColumnError) {
          _ = try row.text(at: index)
        } catch {
          var finding = found[index] ?? (0, [])
          finding.count += 1
          if finding.keys.count < maxKeyCount, let key = StatementRunner.key(in: row, of: schema) {
            finding.keys.append(key)
          }
          found[index] = finding
        }
      }
    }
    return schema.fields.enumerated().compactMap { index, field in
      guard let finding = found[index] else { return nil }
      let violation = Violation(
        kind: .type, model: schema.name, fields: [field.name],
        rule: "\(schema.name).\(field.name).encoding", message: "must be valid UTF-8")
      return RuleFinding(violation: violation, count: finding.count, keys: finding.keys)
    }
  }
}

extension Store {
  /// Compares the triggers and the values of all bindings with the file's catalog.
  ///
  /// - Parameter maxKeyCount: The maximum number of keys in one finding, at least 0.
  /// - Returns: The bindings with wrong triggers or values, sources before their targets.
  /// - Throws: ``StoreError`` when a binding names a model, field or table that does not exist.
  /// - Complexity: Reads all records of each bound model once for each binding.
  public func bindingFindings(maxKeyCount: Int = 5) throws -> [BindingFinding] {
    try open.catalog.bindingFindings(maxKeyCount: maxKeyCount)
  }

  /// Returns the two-way bindings whose conversion there and back loses something, with the number
  /// of stored records that show it.
  ///
  /// - Returns: Sources before their targets; empty when all values survive the conversion.
  /// - Throws: ``StoreError`` when a binding names a model, field or table that does not exist.
  /// - Complexity: Reads all records of each model that is bound both ways once for each binding.
  package func lossyConversions() throws -> [LossyConversion] {
    try open.catalog.lossyConversions()
  }
}

extension Store {
  /// Compares the tables, indexes and triggers of the file with the models and with the file's
  /// catalog. It reads no records: for their values see ``bindingFindings(maxKeyCount:)`` and
  /// ``findings(in:maxKeyCount:onProgress:)``.
  ///
  /// ```swift
  /// for drift in try store.schemaDrift() {
  ///   print(drift.owner.name, drift.sentences)
  /// }
  /// ```
  ///
  /// ``rebuildBindings()`` and ``rebuildRules()`` repair the drift of bindings and rules, and
  /// ``ChangeJournal/enable(_:for:mode:)`` that of the journal.
  ///
  /// - Returns: One value for each model, binding, rule or journal of a model that differs. Models
  ///   are in the order of the schema, bindings with sources before their targets, rules by name
  ///   followed by rules of models or fields that are gone, and models of the journal by name.
  /// - Throws: ``StoreError`` when a binding names a model, field or table that does not exist.
  public func schemaDrift() throws -> [SchemaDrift] {
    try schemaDrift(of: Set(SchemaDrift.Part.allCases))
  }

  /// As ``schemaDrift()``, of some parts of the schema.
  package func schemaDrift(of parts: Set<SchemaDrift.Part>) throws -> [SchemaDrift] {
    try open.catalog.schemaDrift(of: parts)
  }
}
