/// A declarative rule that stored records break, how many, and the first of them.
///
/// Records can break a rule that was there before them only when they were written with checks or
/// foreign keys switched off, or by a program that SQLite's types do not bind. That texts are UTF-8
/// is such a rule, too: SQLite does not look at them.
public struct RuleFinding: Hashable, Sendable {
  /// The rule, without a key.
  public let violation: Violation
  /// How many records break it.
  public let count: Int
  /// The keys of the first records that break it, in key order.
  public let keys: [[SQLValue]]
}

extension Store {
  /// Holds every stored record of `schema` against its rules: values that must be there, the types
  /// of fields, references, and conditions. Rules in Swift run only when something is written.
  ///
  /// - Parameter keyCountMax: The most keys in one finding, at least 0.
  /// - Returns: The rules that are broken, in the order of fields, then those over several fields,
  ///   then texts that are not UTF-8; none for a view.
  /// - Complexity: Reads all records once for each rule.
  public func findings(in schema: ModelSchema, keyCountMax: Int = 5) throws -> [RuleFinding] {
    guard schema.kind == .table else { return [] }
    let checks = StoredRules(schema: schema, models: self.schema).checks
    return try read { reads in
      let broken: [RuleFinding] = try checks.compactMap { check in
        let query = Query<Record>(schema, where: .sql(check.offence))
        let count = try reads.count(query)
        guard count > 0 else { return nil }
        let keys = try reads.rows(query.limit(keyCountMax).keySelectText()).map(\.values)
        return RuleFinding(violation: check.violation, count: count, keys: keys)
      }
      return broken + (try Self.unreadableTexts(of: schema, reads, keyCountMax))
    }
  }

  /// SQLite stores any bytes as text; those that are not UTF-8 nobody can read as text.
  private static func unreadableTexts(
    of schema: ModelSchema, _ reads: borrowing ReadTransaction, _ keyCountMax: Int
  ) throws -> [RuleFinding] {
    var found: [Int: (count: Int, keys: [[SQLValue]])] = [:]
    let text = try Query<Record>(schema).selectText()
    try reads.access.forEachRow(text, of: schema) { row in
      for index in schema.fields.indices where row.storageClass(at: index) == .text {
        do throws(ColumnError) {
          _ = try row.text(at: index)
        } catch {
          var finding = found[index] ?? (0, [])
          finding.count += 1
          if finding.keys.count < keyCountMax, let key = TransactionAccess.key(in: row, of: schema)
          {
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
  /// Compares the triggers and the values of all bindings with what the file's catalog says.
  ///
  /// - Returns: The bindings that are not kept; sources come before what follows them.
  /// - Throws: ``StoreError`` when a binding names a model, field or table that is not there.
  /// - Complexity: Reads all records of each bound model once for each binding.
  public func bindingFindings() throws -> [BindingFinding] {
    try core.bindingFindings()
  }
}

/// The declarative rules of one model, each as a condition that is true for records that break it.
private struct StoredRules {
  struct Check {
    let violation: Violation
    let offence: SQLText
  }

  let schema: ModelSchema
  let models: StoreSchema

  var checks: [Check] {
    schema.fields.flatMap { checks(of: $0) } + schema.rules.map { condition($0, fields: []) }
  }

  private func checks(of field: FieldSchema) -> [Check] {
    let column: SQLText = "\(identifier: field.column)"
    var checks: [Check] = []
    if !field.isOptional, !field.isRowID {
      checks.append(
        check(.required, field, "required", "must have a value", "\(column) IS NULL"))
    }
    if let classes = field.type.storageClassList {
      checks.append(
        check(
          .type, field, "type", "must be of type \(field.type.rawValue)",
          "typeof(\(column)) NOT IN (\(SQLText(sql: classes)), 'null')"))
    }
    if field.type == .boolean {
      checks.append(
        check(
          .check, field, "boolean", "must be true or false",
          "\(column) IS NOT NULL AND \(column) NOT IN (0, 1)"))
    }
    if let reference = field.reference, let referenced = referencedColumn(of: reference) {
      checks.append(
        check(
          .reference, field, "reference", "must name an existing record of \(reference.table)",
          """
          \(column) IS NOT NULL AND NOT EXISTS (
            SELECT 1 FROM \(identifier: reference.table) AS "_ms_referenced"
            WHERE "_ms_referenced".\(identifier: referenced)
              = \(identifier: schema.table).\(column))
          """))
    }
    return checks + field.rules.map { condition($0, fields: [field.name]) }
  }

  private func check(
    _ kind: Violation.Kind, _ field: FieldSchema, _ label: String, _ message: String,
    _ offence: SQLText
  ) -> Check {
    Check(
      violation: Violation(
        kind: kind, model: schema.name, fields: [field.name],
        rule: "\(schema.name).\(field.name).\(label)", message: message),
      offence: offence)
  }

  private func condition(_ rule: RuleSchema, fields: [String]) -> Check {
    Check(
      violation: Violation(
        kind: .check, model: schema.name, fields: fields, rule: rule.name, message: rule.message),
      offence: "NOT (\(SQLText(sql: rule.condition)))")
  }

  private func referencedColumn(of reference: ReferenceSchema) -> String? {
    if let column = reference.column { return column }
    guard let model = models.model(ofTable: reference.table), model.key.count == 1 else {
      return nil
    }
    return model.field(named: model.key[0])?.column
  }
}

extension FieldType {
  /// The storage classes of well-formed values besides NULL, as SQL; nil where any will do.
  fileprivate var storageClassList: String? {
    switch self {
    case .integer, .boolean: "'integer'"
    case .real, .date: "'real', 'integer'"
    case .text, .uuid, .url, .decimal, .json: "'text'"
    case .blob: "'blob'"
    case .any: nil
    }
  }
}
