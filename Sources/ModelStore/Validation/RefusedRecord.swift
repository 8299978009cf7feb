// All violations of a rejected record.
extension _TransactionAccess {
  /// SQLite stops at the first rule that a record breaks.
  ///
  /// - Returns: `error` with every rule that the record breaks, if the error is about one record
  ///   and its rules.
  func completed(
    _ error: any Error, by proposal: @autoclosure () throws -> Proposal?,
    _ encode: (inout ArgumentWriter) throws -> Void
  ) -> any Error {
    guard let refusal = error as? StoreError, refusal.code == .rejected,
      refusal.violations.count == 1, refusal.violations[0].kind != .trigger,
      connection.isInTransaction
    else { return error }
    let first = refusal.violations[0]
    let all: [Violation]
    do {
      guard let proposal = try proposal(), first.model == proposal.schema.name else { return error }
      all = try violations(of: proposal, includesValues: refusals.includesValues, encode)
        .filter { $0.severity == .error }
    } catch {
      // If the record cannot be checked further, the original error is still correct.
      return refusal
    }
    guard let own = all.firstIndex(where: { $0.isSame(as: first) })
    else {
      guard !all.isEmpty else { return error }
      return self.error(all.contains { $0.isMeant(by: first) } ? all : [first] + all, refusal)
    }
    var merged = all
    if merged[own].fields.isEmpty { merged[own].fields = first.fields }
    merged[own].message = first.message
    merged[own].remedy = first.remedy ?? merged[own].remedy
    return self.error(merged, refusal)
  }

  /// Returns the record that an insert or upsert would have written.
  func proposal(
    _ sql: RecordSQL, _ fields: [Int], isUpsert: Bool,
    _ encode: (inout ArgumentWriter) throws -> Void
  ) throws -> Proposal {
    var proposal = Proposal(schema: sql.schema, fields: fields, replaced: .nothing)
    if isUpsert {
      let image = try models.probe(of: sql.schema).judge(
        fields: fields, includesValues: false, encode
      ).image
      let key = sql.schema.keyIndices.map { image[$0] }
      if try record(sql.schema, key: key) != nil { proposal.replaced = .ofSameKey }
    }
    return proposal
  }

  /// Returns the error for an update of some fields of one record.
  func completed(
    _ error: any Error, updating schema: ModelSchema, key: [SQLValue],
    values: [(index: Int, value: SQLValue)]
  ) -> any Error {
    var image: [SQLValue] = []
    let fields = schema.fields.indices.filter { schema.fields[$0].generated == nil }
    func proposal() throws -> Proposal? {
      guard let present = try record(schema, key: key) else { return nil }
      image = present.values
      for (index, value) in values { image[index] = value }
      return Proposal(schema: schema, fields: fields, replaced: .of(key: key))
    }
    return completed(Self.naming(key, of: schema, in: error), by: try proposal()) { arguments in
      for index in fields { arguments.set(image[index], at: index) }
    }
  }

  /// The error with the key of the updated record. SQLite does not say which record breaks a
  /// reference.
  private static func naming(
    _ key: [SQLValue], of schema: ModelSchema, in error: any Error
  ) -> any Error {
    guard var refusal = error as? StoreError, refusal.violations.count == 1,
      refusal.violations[0].kind == .reference, refusal.violations[0].model == schema.name,
      refusal.violations[0].key == nil
    else { return error }
    refusal.violations[0].key = key
    refusal.key = key
    return refusal
  }

  private func error(_ violations: [Violation], _ refusal: StoreError) -> StoreError {
    if violations.count == 1, violations[0].rule == refusal.violations[0].rule {
      var error = refusal
      error.violations = violations
      return error
    }
    var error = StoreError(
      rejecting: Array(violations.prefix(max(1, refusals.maxViolationCount))),
      count: violations.count)
    error.sqliteCode = refusal.sqliteCode
    return error
  }
}

extension Violation {
  /// Returns whether this is the rule that SQLite reported. SQLite may list more fields for it.
  fileprivate func isSame(as refusal: Violation) -> Bool {
    rule == refusal.rule && kind == refusal.kind && (fields.isEmpty || fields == refusal.fields)
  }

  /// Returns whether SQLite's imprecise report can mean this violation. SQLite names no foreign
  /// key, and for a unique index only its columns.
  fileprivate func isMeant(by refusal: Violation) -> Bool {
    guard kind == refusal.kind else { return false }
    return switch kind {
    case .reference: refusal.fields.isEmpty
    case .unique: fields == refusal.fields
    default: false
    }
  }
}
