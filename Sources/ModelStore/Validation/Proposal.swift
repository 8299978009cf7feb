/// A record that is about to be written, to be checked against all rules of the file.
struct Proposal {
  let schema: ModelSchema
  /// The fields that are given values; the others get their defaults.
  let fields: [Int]
  var replaced: Replaced

  /// The record that would be replaced.
  enum Replaced {
    case nothing
    /// The one with the proposed key.
    case ofSameKey
    /// The one with this key, which changes.
    case of(key: [SQLValue])
  }
}

extension _TransactionAccess {
  /// Returns every rule that the proposed record breaks, by itself or together with other records.
  ///
  /// - Parameter encode: Binds the values of the proposal's fields, each at its field's position.
  /// - Returns: First rules about the record alone, in field order. Then keys and unique sets,
  ///   references, and rules about several records.
  func violations(
    of proposal: Proposal, includesValues: Bool, _ encode: (inout ArgumentWriter) throws -> Void
  ) throws -> [Violation] {
    let judged = try models.probe(of: proposal.schema).judge(
      fields: proposal.fields, includesValues: includesValues, encode)
    let record = ProposedRecord(proposal: proposal, judged: judged, access: self)
    return try judged.violations + record.violations(includesValues: includesValues)
  }
}

/// A proposed record, compared with the existing records.
private struct ProposedRecord {
  let proposal: Proposal
  let judged: RecordProbe.Judged
  let access: _TransactionAccess

  private var schema: ModelSchema { proposal.schema }
  private var models: ModelRegistry { access.models }
  private var image: [SQLValue] { judged.image }
  private var key: [SQLValue] { schema.keyIndices.map { image[$0] } }
  /// The key of the record that would be replaced; nil for none.
  private var replacedKey: [SQLValue]? {
    switch proposal.replaced {
    case .nothing: nil
    case .ofSameKey: key
    case .of(let key): key
    }
  }

  /// Returns the rules that it breaks because of other records: keys and unique sets, references,
  /// and rules about several records.
  func violations(includesValues: Bool) throws -> [Violation] {
    let found = try duplicates() + missingReferences() + brokenRules()
    return found.map { $0.about(image, of: schema, key: key, includesValues: includesValues) }
  }

  private func holds(_ condition: SQLText) throws -> Bool {
    try access.connection.firstRow("SELECT (\(condition)) IS TRUE") {
      try $0.integer(at: 0)
    } == 1
  }

  private func cell(_ field: FieldSchema) -> SQLText {
    "\(schema.fieldIndex(named: field.name).map { image[$0] } ?? .null)"
  }

  private func duplicates() throws -> [Violation] {
    try schema.uniqueSets.filter { set in
      try !(set.isKey && replacedKey == key) && !schema.computes(set.fields)
        && holds(another(with: set.fields))
    }
    .map { schema.duplicate(fields: $0.fields, rule: $0.rule) }
  }

  /// Returns the condition that another record has the same values in these fields.
  private func another(with fields: [String]) -> SQLText {
    var condition: SQLText = "EXISTS (SELECT 1 FROM \(identifier: schema.table) WHERE 1"
    for name in fields {
      guard let field = schema.field(named: name) else { continue }
      condition.append(" AND \(identifier: field.column) = \(cell(field))")
    }
    if let replacedKey {
      condition.append(" AND NOT (1")
      for (field, value) in zip(schema.keyFields, replacedKey) {
        condition.append(" AND \(identifier: field.column) IS \(value)")
      }
      condition.append(")")
    }
    condition.append(")")
    return condition
  }

  private func missingReferences() throws -> [Violation] {
    try schema.fields.filter { $0.generated == nil }.compactMap { field in
      guard let reference = field.reference, !cell(field).arguments.contains(.null),
        let column = reference.referencedColumn(in: models.schema.models)
      else { return nil }
      let isThere = try holds(
        """
        EXISTS (
          SELECT 1 FROM \(identifier: reference.table) WHERE \(identifier: column) = \(cell(field))
        )
        """)
      guard !isThere, !isItself(reference, column, cell(field).arguments[0]) else { return nil }
      let target = models.schema.model(ofTable: reference.table)?.name ?? reference.table
      return Violation.missing(target, for: field.name, of: schema)
    }
  }

  /// Returns whether the record refers to itself, which is allowed.
  private func isItself(_ reference: ReferenceSchema, _ column: String, _ value: SQLValue) -> Bool {
    reference.table.asciiFolded == schema.table.asciiFolded
      && schema.field(named: schema.key[0])?.column.asciiFolded == column.asciiFolded
      && image[schema.keyIndices[0]] == value
  }

  private func brokenRules() throws -> [Violation] {
    let stored = try replacedKey.flatMap { try access.record(schema, key: $0) }
    return try models.judgedRules.filter { rule in
      guard rule.model == schema.name else { return false }
      let resolved = try ResolvedRule(rule, in: models.schema.models)
      guard rule.kind != .required,
        !schema.computes((resolved.fields + resolved.group).map(\.name))
      else { return false }
      if case .immutable = rule.demand { return changes(rule.fields, of: stored) }
      if case .unique(.some) = rule.demand, !judged.uniqueRules.contains(rule.name) { return false }
      return try RuleSQL(resolved).offence(proposing: cell).map(holds) ?? false
    }
    .map(\.violation)
  }

  private func changes(_ fields: [String], of stored: DynamicRecord?) -> Bool {
    guard let stored else { return false }
    return proposal.fields.contains { index in
      fields.contains(schema.fields[index].name) && stored.values[index] != image[index]
    }
  }
}

extension ModelSchema {
  /// The sets of fields whose values must be unique together, each with the name of its rule.
  fileprivate var uniqueSets: [(fields: [String], rule: String, isKey: Bool)] {
    let sets = fields.filter { $0.isUnique && key != [$0.name] }.map { [$0.name] } + uniques
    return [(key, "\(name).key", true)]
      + sets.map { ($0, "\(name).\($0.joined(separator: ",")).unique", false) }
      + indexes.filter(\.isUnique).map { ($0.fields, $0.name, false) }
  }

  /// Returns the violation for another record with the same values.
  func duplicate(fields: [String], rule: String) -> Violation {
    Violation(
      kind: .unique, model: name, fields: fields, rule: rule,
      message: fields.count > 1
        ? "must be unique together; another \(name) has the same values"
        : "must be unique; another \(name) has the same value",
      remedy: "Choose another value, or change the other record.")
  }

  /// Returns whether one of the fields has a value that only the file's own definition can compute.
  fileprivate func computes(_ names: [String]) -> Bool {
    fields.contains { $0.generated != nil && names.contains($0.name) }
  }
}

extension TransactionReads where Self: ~Copyable {
  /// Returns the rules that a record or draft would break if you wrote it now. It checks the record
  /// by itself and together with the existing records.
  ///
  /// Validators in Swift are not called, because they check whole transactions.
  ///
  /// - Returns: First rules about the record alone, in field order. Then keys and unique sets,
  ///   references, and rules about several records. Rules with the severity warning are included.
  public borrowing func violations<Value: Insertable>(of value: Value) throws -> [Violation] {
    try access.violations(of: value)
  }
}

extension _TransactionAccess {
  func violations<Value: Insertable>(of value: Value) throws -> [Violation] {
    let sql = try statements(for: Value.Inserted.self)
    do {
      let isThere = try (value as? Value.Inserted).map {
        try record(Value.Inserted.self, key: $0.key) != nil
      }
      let proposal = Proposal(
        schema: sql.schema, fields: sql.writableFields,
        replaced: isThere == true ? .ofSameKey : .nothing)
      return try violations(of: proposal, includesValues: refusals.includesValues) {
        try value.encode(to: &$0)
      }
    } catch {
      throw models.storeError(error, about: sql.schema)
    }
  }
}
