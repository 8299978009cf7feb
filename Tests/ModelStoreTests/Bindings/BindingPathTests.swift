import Testing

@testable import ModelStore

/// Every kind of binding, on every way that a value can take into the file, for every writer.
@Suite(.tags(.law)) struct BindingPathTests {
  struct Path: Sendable, CustomStringConvertible {
    let description: String
    let sql: String

    init(_ name: String, _ sql: String) {
      description = name
      self.sql = sql
    }
  }

  static let paths = [
    Path(
      "insert child",
      "INSERT INTO Child (id, parentID, code, tag, value, note) VALUES (9, 2, 'c', 'n', 3, 'was 99 once')"
    ),
    Path("insert child without key", "INSERT INTO Child (parentID, tag, value) VALUES (2, 'n', 3)"),
    Path(
      "insert children by select",
      "INSERT INTO Child (id, parentID, tag, value, flag) SELECT id + 10, 3, tag || '!', value, flag FROM Child"
    ),
    Path("insert orphan", "INSERT INTO Child (id, parentID, tag, value) VALUES (9, NULL, 'n', 3)"),
    Path(
      "insert dangling child, then its parent",
      "INSERT INTO Child (id, parentID, code, tag, value) VALUES (9, 7, 'g', 'n', 3); INSERT INTO Parent (id, code, name) VALUES (7, 'G', 'Gil')"
    ),
    Path(
      "insert with junk in bound fields",
      "INSERT INTO Child (id, parentID, tag, value, parentName, shout, kept, unit, parentTotal) VALUES (9, 2, 'n', 3, 'x', 'x', 'x', 'x', 5); INSERT INTO Parent (id, code, name, childCount, total, low, tags) VALUES (9, 'n', 'N', 5, 5, 5, 'x')"
    ),
    Path(
      "insert or ignore",
      "INSERT OR IGNORE INTO Child (id, parentID, tag, value) VALUES (1, 2, 'n', 3), (9, 2, 't1', 4), (10, 2, 'm', 5)"
    ),
    Path(
      "ignored inserts, then change, rekey and delete what they met",
      "INSERT OR IGNORE INTO Child (id, parentID, tag, value) VALUES (1, 2, 'n', 3), (9, 2, 't3', 4); UPDATE Child SET value = 50 WHERE id = 1; UPDATE Child SET id = 30 WHERE id = 3; INSERT INTO Child (id, parentID, tag, value) VALUES (3, 2, 'again', 1); DELETE FROM Child WHERE id = 1; INSERT INTO Child (id, parentID, tag, value) VALUES (1, 3, 'back', 1)"
    ),
    Path(
      "replace child in place",
      "REPLACE INTO Child (id, parentID, code, tag, value) VALUES (1, 2, 'c', 't1', 3)"),
    Path(
      "replace child by key only",
      "REPLACE INTO Child (id, parentID, code, tag, value) VALUES (1, 2, 'c', 'n', 3)"),
    Path(
      "replace child by another unique field",
      "REPLACE INTO Child (id, parentID, tag, value) VALUES (9, 3, 't1', 3)"),
    Path(
      "replace two children at once",
      "REPLACE INTO Child (id, parentID, tag, value) VALUES (1, 3, 't4', 3)"),
    Path(
      "replace many",
      "REPLACE INTO Child (id, parentID, tag, value) SELECT id, 3, tag, value FROM Child"),
    Path(
      "replace twice in a statement",
      "REPLACE INTO Child (id, parentID, tag, value) VALUES (1, 3, 't4', 3), (1, 2, 't3', 8), (11, 2, 't3', 6)"
    ),
    Path("replace parent in place", "REPLACE INTO Parent (id, code, name) VALUES (1, 'a', 'Ada')"),
    Path(
      "replace parent by another unique field",
      "REPLACE INTO Parent (id, code, name) VALUES (8, 'A', 'Ada')"),
    Path("update or replace child's key", "UPDATE OR REPLACE Child SET id = 4 WHERE id = 1"),
    Path(
      "update or replace child's unique field",
      "UPDATE OR REPLACE Child SET tag = 't4' WHERE id = 1"),
    Path(
      "update or replace parent's unique field",
      "UPDATE OR REPLACE Parent SET code = 'B' WHERE id = 1"),
    Path("update or replace parent's key", "UPDATE OR REPLACE Parent SET id = 2 WHERE id = 1"),
    Path("update or ignore", "UPDATE OR IGNORE Child SET tag = 't4', value = 5"),
    Path("update or ignore of what counts", "UPDATE OR IGNORE Child SET value = 5, parentID = 2"),
    Path(
      "upsert child",
      "INSERT INTO Child (id, parentID, tag, value) VALUES (1, 2, 'n', 3) ON CONFLICT DO UPDATE SET value = excluded.value, parentID = 3"
    ),
    Path(
      "upsert child, doing nothing",
      "INSERT INTO Child (id, parentID, tag, value) VALUES (1, 2, 'n', 3), (9, 2, 't2', 1) ON CONFLICT DO NOTHING; UPDATE Child SET id = id + 20"
    ),
    Path(
      "upsert parent",
      "INSERT INTO Parent (id, code, name) VALUES (1, 'q', 'Ada') ON CONFLICT DO UPDATE SET name = excluded.name, total = 7"
    ),
    Path("change value", "UPDATE Child SET value = 100 WHERE id = 1"),
    Path(
      "value to NULL and from NULL",
      "UPDATE Child SET value = NULL WHERE id = 1; UPDATE Child SET value = 1 WHERE id = 2"),
    Path("change every value", "UPDATE Child SET value = coalesce(value, 0) * 3 + id, place = -id"),
    Path("change flag", "UPDATE Child SET flag = 1 - flag"),
    Path("change flag and value", "UPDATE Child SET flag = 1 - flag, value = 11, place = 5"),
    Path(
      "change order",
      "UPDATE Child SET place = 0 WHERE id = 1; UPDATE Child SET place = NULL WHERE id = 3"),
    Path("change tag", "UPDATE Child SET tag = tag || 'x'"),
    Path("reparent", "UPDATE Child SET parentID = 2 WHERE id = 1"),
    Path("reparent and change", "UPDATE Child SET parentID = 3, value = 55, flag = 0 WHERE id = 1"),
    Path("reparent all", "UPDATE Child SET parentID = 3"),
    Path("orphan", "UPDATE Child SET parentID = NULL WHERE parentID = 1"),
    Path("dangle", "UPDATE Child SET parentID = 77 WHERE id = 1"),
    Path(
      "change code in case only",
      "UPDATE Child SET code = 'B' WHERE id = 3; UPDATE Parent SET code = 'B' WHERE id = 2"),
    Path("change codes", "UPDATE Child SET code = 'c'; UPDATE Parent SET code = 'd' WHERE id = 3"),
    Path("rekey child", "UPDATE Child SET id = 60 WHERE id = 1"),
    Path("rekey all children", "UPDATE Child SET id = id + 100"),
    Path("rekey parent", "UPDATE Parent SET id = 6 WHERE id = 1"),
    Path(
      "rotate parents",
      "UPDATE Parent SET id = 6 WHERE id = 1; UPDATE Parent SET id = 1 WHERE id = 2; UPDATE Parent SET id = 2 WHERE id = 6"
    ),
    Path("delete child", "DELETE FROM Child WHERE id = 1"),
    Path("delete all children", "DELETE FROM Child"),
    Path("delete parent", "DELETE FROM Parent WHERE id = 1"),
    Path("delete all parents", "DELETE FROM Parent"),
    Path(
      "delete parent and insert it again",
      "DELETE FROM Parent WHERE id = 2; INSERT INTO Parent (id, code, name) VALUES (2, 'b', 'Ben')"),
    Path(
      "delete children and insert again",
      "DELETE FROM Child WHERE parentID = 1; INSERT INTO Child (id, parentID, tag, value) VALUES (1, 1, 't1', 4)"
    ),
    Path(
      "overwrite bound fields of parents",
      "UPDATE Parent SET childCount = 9, total = 9, mean = 9, low = 9, high = 9, firstTag = 'x', tags = 'x', doubled = 9"
    ),
    Path(
      "overwrite bound fields of children",
      "UPDATE Child SET parentName = 'x', shout = 'x', kept = 'x', unit = 'x', note = 'n 7 n', codeName = 'x'"
    ),
    Path("change the other end", "UPDATE Child SET millis = 77000 WHERE id = 1"),
    Path(
      "change both ends",
      "UPDATE Child SET value = 5, millis = 9000 WHERE id = 1; INSERT INTO Child (id, parentID, tag, value, millis) VALUES (9, 2, 'n', 3, 8000)"
    ),
    Path("change the end in another record", "UPDATE Setting SET alias = 'new' WHERE id = 1"),
    Path("change the ends in all records", "UPDATE Setting SET alias = 'new ' || id"),
    Path("take the value from an end", "UPDATE Parent SET nick = NULL WHERE id = 1"),
    Path(
      "change ends and rekey",
      "UPDATE Setting SET alias = 'new', id = 3 WHERE id = 1; UPDATE Parent SET nick = 'p', id = 8 WHERE id = 2; UPDATE Setting SET id = 8 WHERE id = 2"
    ),
    Path(
      "insert with an end given",
      "INSERT INTO Setting (id, unit, alias) VALUES (3, 'h', 'mine'), (9, 'h', 'mine'); INSERT INTO Parent (id, code, name, nick) VALUES (9, 'x', 'X', 'theirs')"
    ),
    Path("change the singleton source", "UPDATE Setting SET unit = 'h'"),
    Path("delete the singleton source", "DELETE FROM Setting WHERE id = 1"),
    Path(
      "rekey the singleton source",
      "UPDATE Setting SET id = 5 WHERE id = 1; UPDATE Setting SET id = 1 WHERE id = 2"),
    Path("replace the singleton source", "REPLACE INTO Setting (id, unit) VALUES (1, 'min')"),
    Path(
      "delete and insert the singleton target",
      "DELETE FROM Summary; INSERT INTO Summary (id, total) VALUES (1, 4), (2, 4)"),
    Path(
      "rekey the singleton target",
      "UPDATE Summary SET id = 9 WHERE id = 1; UPDATE Summary SET id = 1 WHERE id = 2"),
    Path(
      "overwrite the singleton target", "UPDATE Summary SET children = 77, total = 77, best = 77"),
    Path(
      "undo by savepoint",
      "SAVEPOINT s; DELETE FROM Child; UPDATE Parent SET name = 'x'; ROLLBACK TO s; UPDATE Child SET value = 5 WHERE id = 1; RELEASE s"
    ),
    Path(
      "a failed statement in between",
      "INSERT INTO Child (id, parentID, tag, value) VALUES (9, 2, 'n', 3), (1, 2, 'm', 3); UPDATE Child SET value = 6 WHERE id = 3"
    ),
    Path(
      "keep earlier rows of a failed statement",
      "INSERT OR FAIL INTO Child (id, parentID, tag, value) VALUES (9, 2, 'n', 3), (1, 2, 'm', 3), (10, 2, 'o', 4)"
    ),
    Path(
      "bulk",
      "WITH RECURSIVE n(i) AS (SELECT 100 UNION ALL SELECT i + 1 FROM n WHERE i < 600) INSERT INTO Child (id, parentID, tag, value, flag) SELECT i, i % 4, 'b' || i, i % 7, i % 2 FROM n; DELETE FROM Child WHERE id % 3 = 0"
    ),
  ]

  static let policies: [ReferenceSchema.Action] = [.setNull, .cascade, .restrict]

  @Test(
    "every kind of binding holds on every path", .enabled(if: Shell.isInstalled, Shell.reason),
    arguments: zip(BindingPathTests.policies, [true, false, true]))
  func kindsHold(policy: ReferenceSchema.Action, isStrict: Bool) async throws {
    let zoo = BindingZoo(policy, isStrict: isStrict)
    let template = try BindingFixture(zoo.tables + BindingZoo.rows)
    try template.install(BindingZoo.bindings, in: zoo.models)
    #expect(try BindingZoo.mistakes(in: template) == [])
    let installation = try CompiledBindings(BindingZoo.bindings, in: zoo.models)
    for path in Self.paths {
      // Tests that wait for something need a thread now and then.
      await Task.yield()
      func check(_ fixture: BindingFixture, _ writer: String) throws {
        #expect(try BindingZoo.mistakes(in: fixture) == [], "\(path), \(writer)")
        let findings = try installation.findings(on: fixture.connection, maxKeyCount: 5)
        #expect(findings == [], "\(path), \(writer)")
      }
      try template.connection.execute("BEGIN")
      _ = try template.failure(of: path.sql)
      try check(template, "library")
      try template.connection.execute("ROLLBACK")
      let copy = try BindingFixture(copying: template)
      _ = try copy.shell(path.sql + ";")
      try check(copy, "shell")
      let attached = try BindingFixture(copying: template)
      let decoys = try Shell.run(
        Self.attaching(attached.path, path, besides: zoo), on: ":memory:"
      ).output
      #expect(decoys.count == 2 && decoys.first == decoys.last, "\(path)")
      try check(attached, "shell that has the file attached")
    }
  }

  /// Writes through the name of an attached database. Beside it are tables of the same names, which
  /// nothing may touch.
  private static func attaching(
    _ file: String, _ path: Path, besides zoo: BindingZoo
  ) -> String {
    let decoys = """
      SELECT (SELECT group_concat(quote(id) || quote(name)) FROM main.Parent)
        || (SELECT group_concat(quote(id) || quote(tag) || quote(value)) FROM main.Child)
        || (SELECT group_concat(quote(id) || quote(unit)) FROM main.Setting)
        || (SELECT group_concat(quote(id) || quote(total)) FROM main.Summary);
      """
    let named = path.sql.replacing(
      /\b(INTO|FROM|UPDATE(?: OR [A-Z]+)?) (Parent|Child|Setting|Summary)\b/
    ) { "\($0.1) store.\($0.2)" }
    return """
      PRAGMA foreign_keys = ON;
      \(zoo.tables)
      \(BindingZoo.rows)
      ATTACH \(SQLText.literal(file)) AS store;
      \(decoys)
      \(named);
      \(decoys)
      """
  }

  @Test(
    "no kind of binding writes to another database, and dropping leaves nothing behind",
    arguments: BindingZoo.bindings)
  func otherDatabasesAreRefused(binding: BindingSchema) throws {
    let zoo = BindingZoo()
    let fixture = try BindingFixture(zoo.tables + BindingZoo.rows)
    var abroad = binding
    var reason = "which the store does not have"
    switch binding.formula {
    case .copy(var source, let through):
      source.model = "other." + source.model
      abroad.formula = .copy(source: source, through: through)
    case .lookup(var lookup):
      lookup.source.model = "other." + lookup.source.model
      abroad.formula = .lookup(lookup)
    case .aggregate(var aggregate):
      aggregate.model = "other." + aggregate.model
      abroad.formula = .aggregate(aggregate)
    case .twoWay(var twoWay):
      twoWay.left.model = "other." + twoWay.left.model
      abroad.formula = .twoWay(twoWay)
    case .derive:
      abroad.formula = .derive(sql: "other.Setting.unit")
      reason = "The binding \(binding.name) cannot be kept: SQLite says: "
    }
    let error = #expect(throws: StoreError.self) {
      try fixture.install([abroad], in: zoo.models)
    }
    #expect(error?.message.contains(reason) == true, "\(error?.message ?? "")")
    #expect(try InstalledObjects.ofBindings(in: fixture.connection).objects == [])
  }

  @Test("writes made while triggers are missing are found, named and repaired")
  func findsAndRepairs() throws {
    let zoo = BindingZoo()
    let fixture = try BindingFixture(zoo.tables + BindingZoo.rows)
    try fixture.install(BindingZoo.bindings, in: zoo.models)
    let triggers = try InstalledObjects.ofBindings(in: fixture.connection).objects
      .filter { $0.kind == .trigger }
    _ = try fixture.connection.inTransaction {
      try Reconciler(fixture.connection).apply(SchemaPlan(dropped: triggers))
    }
    try fixture.connection.execute(
      """
      UPDATE Child SET value = value + 1, parentID = 2, tag = tag || 'q';
      DELETE FROM Child WHERE id = 4;
      UPDATE Parent SET name = 'Zoe' WHERE id = 2;
      """)
    #expect(try BindingZoo.mistakes(in: fixture) != [])
    let installation = try CompiledBindings(BindingZoo.bindings, in: zoo.models)
    let findings = try installation.findings(on: fixture.connection, maxKeyCount: 2)
    let total = findings.first { $0.binding == "Parent.total" }
    #expect(total?.recordCount == 2)
    #expect(total?.keys == [[.integer(1)], [.integer(2)]])
    #expect(total?.drift?.objects.contains("_ms_binding_Parent.total_totals") == true)
    try fixture.install(BindingZoo.bindings, in: zoo.models)
    #expect(try BindingZoo.mistakes(in: fixture) == [])
    #expect(try installation.findings(on: fixture.connection, maxKeyCount: 2) == [])
  }
}
