/// Brings a file's triggers, indexes and tables of rules in line with the rules that it is to keep:
/// creates what is missing, recreates what differs, drops what no rule needs.
struct RuleInstallation {
  let rules: [RuleObjects]
  /// The names of objects that are left as they are.
  private let untouched: Set<String>

  /// Reads the file's unique indexes, by which REPLACE evicts records, where a rule needs them.
  ///
  /// - Throws: As ``init(_:in:leaving:catalog:)``; ``SQLiteError`` when the file cannot be read.
  init(
    _ rules: [Rule], in models: [ModelSchema], leaving unresolved: [Rule] = [],
    on connection: Connection
  ) throws {
    let catalog = rules.contains(where: \.asksEvicted) ? try Catalog(reading: connection) : nil
    try self.init(rules, in: models, leaving: unresolved, catalog: catalog)
  }

  /// - Parameters:
  ///   - rules: All rules of the file that `models` can tell of.
  ///   - unresolved: The others, whose triggers and indexes stay as they are.
  ///   - catalog: What the file has; nil where no rule looks at evicted records.
  /// - Throws: ``StoreError`` when a rule cannot be kept, or when two have one name or two of their
  ///   triggers would.
  init(
    _ rules: [Rule], in models: [ModelSchema], leaving unresolved: [Rule] = [], catalog: Catalog?
  ) throws(StoreError) {
    let untouched = Set(unresolved.flatMap { RuleObjects.objectNames(ofRule: $0.name) })
    self.untouched = untouched
    var names = Set(models.flatMap { $0.allRules.map(\.rule.name.asciiFolded) })
    names.formUnion(unresolved.map(\.name.asciiFolded))
    var resolved: [ResolvedRule] = []
    for rule in rules {
      guard names.insert(rule.name.asciiFolded).inserted else {
        throw StoreError(
          .configurationConflict,
          "There is another rule called \(rule.name); names are unique in a store.",
          model: rule.model)
      }
      resolved.append(try ResolvedRule(rule, in: models))
    }
    // Sorted, so that the same rules always make the same triggers.
    let tables = catalog.map {
      EvictionTables(
        $0, for: resolved.sorted { $0.rule.name < $1.rule.name }, leaving: untouched)
    }
    self.rules = resolved.map { RuleObjects($0, evictions: tables ?? EvictionTables()) }
    try checkNames()
  }

  private func checkNames() throws(StoreError) {
    var owners: [String: String] = [:]
    for made in rules {
      let rule = made.rule.rule
      // An index may be called like a trigger.
      for object in made.objects where object.kind != .index {
        let owner = owners.updateValue(rule.name, forKey: object.name.asciiFolded)
        guard let owner else { continue }
        throw StoreError(
          .configurationConflict,
          "The rules \(owner) and \(rule.name) would both have a \(object.kind.rawValue) called \(object.name). Give one of them another name.",
          model: rule.model)
      }
    }
  }

  /// What must happen to the file.
  struct Difference: Hashable, Sendable {
    /// What is in the file and is not wanted so.
    var dropped: [Found] = []
    /// The text of each.
    var created: [String] = []

    var isEmpty: Bool { dropped.isEmpty && created.isEmpty }
  }

  /// A trigger, index or table of a rule in the file.
  struct Found: Hashable, Sendable {
    let kind: RuleObjects.Kind
    let name: String
    let sql: String
    var table = ""
  }

  func difference(from found: [Found]) -> Difference {
    let wanted = rules.flatMap(\.objects)
    var difference = Difference()
    difference.dropped = found.filter { object in
      !untouched.contains(object.name)
        && !wanted.contains { $0.name == object.name && $0.sql.isExactly(object.sql) }
    }
    difference.created = wanted.filter { object in
      !found.contains { $0.name == object.name && $0.sql.isExactly(object.sql) }
    }.map(\.sql)
    return difference
  }

  /// The rules that the file's triggers and indexes do not keep, by name.
  func unkept(in connection: Connection) throws -> [UnkeptRule] {
    let found = try Self.objects(in: connection)
    var objects: [String: Set<String>] = [:]
    var wanted: Set<String> = []
    for rule in rules {
      for object in rule.objects {
        wanted.insert(object.name)
        guard !found.contains(where: { $0.name == object.name && $0.sql.isExactly(object.sql) })
        else { continue }
        objects[rule.rule.rule.name, default: []].insert(object.name)
      }
    }
    for object in found where !untouched.contains(object.name) && !wanted.contains(object.name) {
      objects[RuleObjects.ruleName(ofObject: object.name, object.kind), default: []]
        .insert(object.name)
    }
    return objects.sorted { $0.key < $1.key }
      .map { UnkeptRule(rule: $0.key, objects: $0.value.sorted()) }
  }

  /// The file's triggers, indexes and tables of rules, by name.
  static func objects(in connection: Connection) throws -> [Found] {
    try connection.rows(
      """
      SELECT name, type, sql, tbl_name
      FROM sqlite_schema
      WHERE type IN ('trigger', 'index', 'table') AND (
        instr(name, \(RuleObjects.namePrefix)) = 1
        OR instr(name, \(RuleEvictions.namePrefix)) = 1
      )
      ORDER BY name
      """
    ) { row in
      Found(
        kind: RuleObjects.Kind(rawValue: try row.text(at: 1)) ?? .trigger,
        name: try row.text(at: 0), sql: try row.text(at: 2), table: try row.text(at: 3))
    }
  }

  /// Makes the file's triggers and indexes those of ``rules``. Touches no record.
  ///
  /// - Throws: ``SQLiteError``, also when records break a unique rule. The caller rolls back.
  /// - Precondition: A write transaction is open, the models' tables exist, and SQLite takes the
  ///   conditions of rules that are new or changed: ``RuleObjects/check(on:)``.
  func apply(to connection: Connection) throws {
    precondition(connection.isInTransaction, "Rules are installed inside a transaction.")
    let difference = difference(from: try Self.objects(in: connection))
    guard !difference.isEmpty else { return }
    for object in difference.dropped {
      let kind = object.kind.rawValue.uppercased()
      try connection.execute("DROP \(kind) \(SQLText.quoted(object.name))")
    }
    for sql in difference.created { try connection.execute(sql) }
  }
}

extension RuleObjects {
  /// Asks SQLite whether it accepts the rule's condition.
  ///
  /// - Throws: ``StoreError`` with code `unsupportedSchema` and SQLite's reason.
  func check(on connection: Connection) throws {
    do {
      guard let expression = rule.expression else { return }
      try expression.probe(in: rule.model, on: connection)
      if let name = try expression.registeredFunction(on: connection) {
        throw refusal("other writers do not have the function \(name).")
      }
    } catch let error as SQLiteError where error.code.primary == .error {
      throw refusal("SQLite says: \(error.message). Check the names and the expression.")
    }
  }

  private func refusal(_ reason: String) -> StoreError {
    StoreError(
      .unsupportedSchema, "The rule \(rule.rule.name) cannot be kept: \(reason)",
      model: rule.model.name)
  }
}
