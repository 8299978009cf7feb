/// A record as somebody would write it, held against everything that the file demands.
struct Proposal {
  let schema: ModelSchema
  /// The fields that are given values; the others get their defaults.
  let fields: [Int]
  /// Whether a record of that key is there already and would be replaced.
  var isReplacing: Bool
}

extension TransactionAccess {
  /// Everything that is wrong with a record: by itself, and with the others.
  ///
  /// - Parameter encode: Binds the values of the proposal's fields, each at its field's position.
  /// - Returns: What it breaks by itself in the order of fields, then keys and unique sets,
  ///   references, and rules about several records.
  func violations(
    of proposal: Proposal, tellsValues: Bool, _ encode: (inout ArgumentWriter) throws -> Void
  ) throws -> [Violation] {
    let judged = try models.probe(of: proposal.schema).judge(
      fields: proposal.fields, tellsValues: tellsValues, encode)
    return judged.violations
      + (try violations(
        among: judged, of: proposal, tellsValues: tellsValues))
  }

  /// What is wrong with a record because of others.
  private func violations(
    among judged: RecordProbe.Judged, of proposal: Proposal, tellsValues: Bool
  ) throws -> [Violation] {
    let image = judged.image
    let schema = proposal.schema
    let key = schema.keyIndices.map { image[$0] }
    func holds(_ condition: SQLText) throws -> Bool {
      try connection.firstRow("SELECT (\(condition)) IS TRUE") { try $0.integer(at: 0) } == 1
    }
    func cell(_ field: FieldSchema) -> SQLText {
      "\(schema.fieldIndex(named: field.name).map { image[$0] } ?? .null)"
    }
    var found: [Violation] = []
    for set in schema.uniqueSets
    where !(set.isKey && proposal.isReplacing) && !schema.computes(set.fields) {
      var condition: SQLText = "EXISTS (SELECT 1 FROM \(identifier: schema.table) WHERE 1"
      for name in set.fields {
        guard let field = schema.field(named: name) else { continue }
        condition.append(" AND \(identifier: field.column) = \(cell(field))")
      }
      if proposal.isReplacing {
        condition.append(" AND NOT (1")
        for index in schema.keyIndices {
          condition.append(" AND \(identifier: schema.fields[index].column) IS \(image[index])")
        }
        condition.append(")")
      }
      condition.append(")")
      if try holds(condition) { found.append(schema.duplicate(fields: set.fields, rule: set.rule)) }
    }
    for field in schema.fields where field.generated == nil {
      guard let reference = field.reference, !cell(field).arguments.contains(.null),
        let column = reference.referencedColumn(in: models.schema.models)
      else { continue }
      let isThere = try holds(
        """
        EXISTS (
          SELECT 1 FROM \(identifier: reference.table) WHERE \(identifier: column) = \(cell(field))
        )
        """)
      // A record may refer to itself.
      let isItself =
        reference.table.asciiFolded == schema.table.asciiFolded
        && schema.field(named: schema.key[0])?.column.asciiFolded == column.asciiFolded
        && image[schema.keyIndices[0]] == cell(field).arguments[0]
      if !isThere, !isItself {
        let target = models.schema.model(ofTable: reference.table)?.name ?? reference.table
        found.append(Violation.missing(target, for: field.name, of: schema))
      }
    }
    let stored = proposal.isReplacing ? try record(schema, key: key) : nil
    for rule in models.judgedRules where rule.model == schema.name {
      let resolved = try ResolvedRule(rule, in: models.schema.models)
      guard rule.kind != .required,
        !schema.computes((resolved.fields + resolved.group).map(\.name))
      else { continue }
      if case .immutable = rule.demand {
        guard let stored else { continue }
        let isChanged = proposal.fields.contains { index in
          rule.fields.contains(schema.fields[index].name) && stored.values[index] != image[index]
        }
        if isChanged { found.append(rule.violation) }
        continue
      }
      if case .unique(.some) = rule.demand, !judged.uniqueRules.contains(rule.name) { continue }
      guard let offence = RuleSQL(resolved).offence(proposing: cell) else { continue }
      if try holds(offence) { found.append(rule.violation) }
    }
    return found.map { $0.about(image, of: schema, key: key, tellsValues: tellsValues) }
  }
}

extension ModelSchema {
  /// The fields whose values occur once together, and what the rule is called.
  fileprivate var uniqueSets: [(fields: [String], rule: String, isKey: Bool)] {
    let sets = fields.filter { $0.isUnique && key != [$0.name] }.map { [$0.name] } + uniques
    return [(key, "\(name).key", true)]
      + sets.map { ($0, "\(name).\($0.joined(separator: ",")).unique", false) }
      + indexes.filter(\.isUnique).map { ($0.fields, $0.name, false) }
  }

  /// The violation that another record has the same values.
  func duplicate(fields: [String], rule: String) -> Violation {
    Violation(
      kind: .unique, model: name, fields: fields, rule: rule,
      message: fields.count > 1
        ? "must be unique together; another \(name) has the same values"
        : "must be unique; another \(name) has the same value",
      remedy: "Choose another value, or change the other record.")
  }

  /// Whether one of the fields has a value that only the file's own definition can compute.
  fileprivate func computes(_ names: [String]) -> Bool {
    fields.contains { $0.generated != nil && names.contains($0.name) }
  }
}

extension TransactionReads where Self: ~Copyable {
  /// What is wrong with a record or draft if it were written now: by itself, and with the records
  /// that are there. Rules in Swift are not asked: they judge whole transactions.
  ///
  /// - Returns: What it breaks by itself in the order of fields, then keys and unique sets,
  ///   references, and rules about several records, those that only warn too.
  public borrowing func violations<Value: Insertable>(of value: Value) throws -> [Violation] {
    try access.violations(of: value)
  }
}

extension TransactionAccess {
  func violations<Value: Insertable>(of value: Value) throws -> [Violation] {
    let sql = try statements(for: Value.Inserted.self)
    do {
      let isThere = try (value as? Value.Inserted).map {
        try record(Value.Inserted.self, key: $0.key) != nil
      }
      let proposal = Proposal(
        schema: sql.schema, fields: sql.writableFields, isReplacing: isThere ?? false)
      return try violations(of: proposal, tellsValues: refusals.tellsValues) {
        try value.encode(to: &$0)
      }
    } catch {
      throw models.storeError(error, about: sql.schema)
    }
  }
}
