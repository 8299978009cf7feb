@testable import ModelStore

/// One schema with a binding of every kind, and what their fields must hold: computed in Swift from
/// the rows, apart from the SQL of triggers and checks.
struct BindingZoo {
  let policy: ReferenceSchema.Action
  let isStrict: Bool

  init(_ policy: ReferenceSchema.Action = .setNull, isStrict: Bool = true) {
    self.policy = policy
    self.isStrict = isStrict
  }

  var tables: String {
    let strict = isStrict ? " STRICT" : ""
    return """
      CREATE TABLE Parent (
        id INTEGER PRIMARY KEY, code TEXT NOT NULL UNIQUE COLLATE NOCASE, name TEXT NOT NULL,
        childCount INTEGER NOT NULL DEFAULT 0, valueCount INTEGER NOT NULL DEFAULT 0,
        total INTEGER NOT NULL DEFAULT 0, flagged INTEGER NOT NULL DEFAULT 0, mean REAL,
        low INTEGER, high INTEGER NOT NULL DEFAULT -1, firstTag TEXT, lastTag TEXT, tags TEXT,
        byCode INTEGER NOT NULL DEFAULT 0, doubled INTEGER, nick TEXT,
        weighted INTEGER NOT NULL DEFAULT 0, marked INTEGER NOT NULL DEFAULT 0, widest INTEGER
      )\(strict);
      CREATE TABLE Child (
        id INTEGER PRIMARY KEY,
        parentID INTEGER REFERENCES Parent ON DELETE \(policy.rawValue) ON UPDATE CASCADE,
        code TEXT COLLATE NOCASE, tag TEXT NOT NULL UNIQUE, value INTEGER, place INTEGER,
        flag INTEGER NOT NULL DEFAULT 1, parentName TEXT NOT NULL DEFAULT '', codeName TEXT,
        shout TEXT, kept TEXT, unit TEXT, label TEXT, note TEXT, parentTotal INTEGER,
        millis INTEGER
      )\(strict);
      CREATE TABLE Setting (id INTEGER PRIMARY KEY, unit TEXT NOT NULL, alias TEXT)\(strict);
      CREATE TABLE Summary (
        id INTEGER PRIMARY KEY, children INTEGER NOT NULL DEFAULT 0,
        total INTEGER NOT NULL DEFAULT 0, best INTEGER)\(strict);
      """
  }

  static let rows = """
    INSERT INTO Setting (id, unit) VALUES (1, 'ms'), (2, 's');
    INSERT INTO Parent (id, code, name) VALUES (1, 'a', 'Ann'), (2, 'b', 'Bob'), (3, 'c', 'Cid');
    INSERT INTO Summary (id) VALUES (1), (2);
    INSERT INTO Child (id, parentID, code, tag, value, place, flag, note) VALUES
      (1, 1, 'A', 't1', 10, 3, 1, 'about 1 of them'), (2, 1, 'b', 't2', NULL, 1, 0, NULL),
      (3, 1, 'b', 't3', -4, 2, 1, 'none'), (4, 2, 'zz', 't4', 7, NULL, 1, '5'),
      (5, NULL, NULL, 't5', 9, 1, 1, 'x2y3z');
    UPDATE Parent SET nick = 'of ' || name;
    """

  var models: [ModelSchema] {
    func field(
      _ name: String, _ type: FieldType, _ isOptional: Bool = true, _ defaultSQL: String? = nil,
      isUnique: Bool = false, collation: Collation = .binary, reference: ReferenceSchema? = nil
    ) -> FieldSchema {
      FieldSchema(
        name: name, type: type, isOptional: isOptional, isUnique: isUnique,
        isRowID: name == "id", defaultSQL: defaultSQL, collation: collation, reference: reference)
    }
    let id = field("id", .integer, false)
    return [
      ModelSchema(
        name: "Parent",
        fields: [
          id, field("code", .text, false, isUnique: true, collation: .nocase),
          field("name", .text, false), field("childCount", .integer, false, "0"),
          field("valueCount", .integer, false, "0"), field("total", .integer, false, "0"),
          field("flagged", .integer, false, "0"), field("mean", .real), field("low", .integer),
          field("high", .integer, false, "-1"), field("firstTag", .text), field("lastTag", .text),
          field("tags", .text), field("byCode", .integer, false, "0"), field("doubled", .integer),
          field("nick", .text), field("weighted", .integer, false, "0"),
          field("marked", .integer, false, "0"), field("widest", .integer),
        ], key: ["id"], isAdopted: !isStrict),
      ModelSchema(
        name: "Child",
        fields: [
          id,
          field(
            "parentID", .integer,
            reference: ReferenceSchema(table: "Parent", onDelete: policy, onUpdate: .cascade)),
          field("code", .text, collation: .nocase), field("tag", .text, false, isUnique: true),
          field("value", .integer), field("place", .integer), field("flag", .integer, false, "1"),
          field("parentName", .text, false, "''"), field("codeName", .text),
          field("shout", .text), field("kept", .text), field("unit", .text),
          field("label", .text), field("note", .text), field("parentTotal", .integer),
          field("millis", .integer),
        ], key: ["id"], isAdopted: !isStrict),
      ModelSchema(
        name: "Setting", fields: [id, field("unit", .text, false), field("alias", .text)],
        key: ["id"]),
      ModelSchema(
        name: "Summary",
        fields: [
          id, field("children", .integer, false, "0"), field("total", .integer, false, "0"),
          field("best", .integer),
        ], key: ["id"]),
    ]
  }

  static let bindings: [BindingSchema] = {
    typealias Aggregate = BindingSchema.Aggregate
    func target(_ text: String) -> BindingSchema.Field {
      let parts = text.split(separator: ".").map(String.init)
      return .init(model: parts[0], field: parts[1])
    }
    func aggregate(_ name: String, _ aggregate: Aggregate) -> BindingSchema {
      BindingSchema(target: target(name), formula: .aggregate(aggregate))
    }
    let children = [BindingSchema.Match(source: "parentID", target: "id")]
    return [
      aggregate("Parent.childCount", Aggregate(.count, model: "Child", match: children)),
      aggregate(
        "Parent.valueCount", Aggregate(.count, model: "Child", field: "value", match: children)),
      aggregate("Parent.total", Aggregate(.sum, model: "Child", field: "value", match: children)),
      aggregate(
        "Parent.flagged",
        Aggregate(
          .sum, model: "Child", field: "value", match: children,
          condition: "flag = '1' AND place > 1")),
      aggregate(
        "Parent.mean", Aggregate(.average, model: "Child", field: "value", match: children)),
      aggregate(
        "Parent.low", Aggregate(.minimum, model: "Child", field: "value", match: children)),
      aggregate(
        "Parent.high",
        Aggregate(
          .maximum, model: "Child", field: "value", match: children, condition: "flag = 1")),
      aggregate(
        "Parent.firstTag",
        Aggregate(.first, model: "Child", field: "tag", order: "place", match: children)),
      aggregate(
        "Parent.lastTag", Aggregate(.last, model: "Child", field: "tag", match: children)),
      aggregate(
        "Parent.tags",
        Aggregate(
          .joined, model: "Child", field: "tag", order: "place", separator: "+", match: children)),
      aggregate(
        "Parent.byCode",
        Aggregate(.count, model: "Child", match: [.init(source: "code", target: "code")])),
      aggregate(
        "Parent.weighted",
        Aggregate(.sum, model: "Child", expression: "value * place", match: children)),
      aggregate(
        "Parent.marked",
        Aggregate(
          .sum, model: "Child", expression: "CASE WHEN flag = '1' THEN value ELSE 1 END",
          match: children)),
      aggregate(
        "Parent.widest",
        Aggregate(
          .maximum, model: "Child", expression: "value - coalesce(place, 0)", match: children)),
      BindingSchema(target: target("Parent.doubled"), formula: .derive(sql: "total * 2")),
      BindingSchema(
        target: target("Child.parentName"),
        formula: .copy(source: target("Parent.name"), through: "parentID")),
      BindingSchema(
        target: target("Child.parentTotal"),
        formula: .copy(source: target("Parent.total"), through: "parentID")),
      BindingSchema(
        target: target("Child.codeName"),
        formula: .lookup(
          .init(
            source: target("Parent.name"), match: [.init(source: "code", target: "code")],
            transform: "upper(name) || id"))),
      BindingSchema(target: target("Child.shout"), formula: .derive(sql: "upper(tag)")),
      BindingSchema(
        name: "kept.high", target: target("Child.kept"), formula: .derive(sql: "'big ' || tag"),
        condition: "value > 8", priority: 2),
      BindingSchema(
        name: "kept.low", target: target("Child.kept"), formula: .derive(sql: "'small ' || tag"),
        condition: "flag = 1", priority: 1),
      BindingSchema(
        target: target("Child.millis"),
        formula: .twoWay(
          .init(
            left: target("Child.value"), match: [], forward: "value * 1000",
            backward: "millis / 1000"))),
      BindingSchema(
        target: target("Setting.alias"),
        formula: .twoWay(
          .init(left: target("Parent.nick"), match: [.init(source: "id", target: "id")]))),
      BindingSchema(
        target: target("Child.unit"),
        formula: .lookup(.init(source: target("Setting.unit"), match: [], place: [.integer(1)]))),
      BindingSchema(
        target: target("Child.note"), formula: .derive(sql: "CAST(value AS TEXT)"),
        condition: "value IS NOT NULL", mode: .numberInText),
      aggregate(
        "Summary.children",
        Aggregate(.count, model: "Child", match: [], place: [.integer(1)])),
      aggregate(
        "Summary.total",
        Aggregate(
          .sum, model: "Child", field: "value", match: [], place: [.integer(1)],
          condition: "flag = 1")),
      aggregate(
        "Summary.best",
        Aggregate(.maximum, model: "Child", field: "value", match: [], place: [.integer(1)])),
    ]
  }()

  // What must hold

  /// What is wrong in the file, each as a sentence; empty when every bound field is right.
  static func mistakes(in fixture: BindingFixture) throws -> [String] {
    try mistakes(on: fixture.connection)
  }

  static func mistakes(on connection: Connection) throws -> [String] {
    let parents = try read("Parent", connection)
    let children = try read("Child", connection)
    let unit = try read("Setting", connection).first { $0["id"] == .integer(1) }?["unit"] ?? .null
    var mistakes: [String] = []
    func expect(_ row: Row, _ field: String, _ value: SQLValue, _ what: String) {
      if row[field] != value {
        mistakes.append(
          "\(what) \(row["id"] ?? .null): \(field) is \(row[field] ?? .null), not \(value)")
      }
    }
    for parent in parents {
      let mine = children.filter { $0["parentID"] == parent["id"] }
      for (field, value) in aggregates(of: mine) { expect(parent, field, value, "Parent") }
      let code = folded(parent["code"])
      expect(
        parent, "byCode",
        .integer(Int64(children.count { !isNull($0["code"]) && folded($0["code"]) == code })),
        "Parent")
      expect(parent, "doubled", .integer(2 * (integer(parent["total"]) ?? 0)), "Parent")
    }
    for child in children {
      let parent = parents.first { $0["id"] == child["parentID"] }
      expect(child, "parentName", parent?["name"] ?? .text(""), "Child")
      expect(child, "parentTotal", parent?["total"] ?? .null, "Child")
      let coded = parents.first {
        !isNull(child["code"]) && folded($0["code"]) == folded(child["code"])
      }
      let name = coded.map { "\(text($0["name"]).uppercased())\(integer($0["id"]) ?? 0)" }
      expect(child, "codeName", name.map { .text($0) } ?? .null, "Child")
      expect(child, "millis", integer(child["value"]).map { .integer($0 * 1000) } ?? .null, "Child")
      expect(child, "shout", .text(text(child["tag"]).uppercased()), "Child")
      expect(child, "unit", unit, "Child")
      if let value = integer(child["value"]), value > 8 {
        expect(child, "kept", .text("big " + text(child["tag"])), "Child")
      } else if integer(child["flag"]) == 1 {
        expect(child, "kept", .text("small " + text(child["tag"])), "Child")
      }
      if let value = integer(child["value"]), case .text(let note)? = child["note"] {
        // Putting the number that is there in again changes nothing.
        expect(child, "note", .text(note.replacingNumber(with: "\(value)")), "Child")
      }
    }
    for setting in try read("Setting", connection) {
      guard let parent = parents.first(where: { $0["id"] == setting["id"] }) else { continue }
      expect(setting, "alias", parent["nick"] ?? .null, "Setting")
    }
    for row in try read("Summary", connection) {
      let isPlace = row["id"] == .integer(1)
      guard isPlace else { continue }
      expect(row, "children", .integer(Int64(children.count)), "Summary")
      let flagged = children.filter { integer($0["flag"]) == 1 }
      expect(
        row, "total", .integer(flagged.compactMap { integer($0["value"]) }.reduce(0, +)), "Summary")
      let best = children.compactMap { integer($0["value"]) }.max()
      expect(row, "best", best.map { .integer($0) } ?? .null, "Summary")
    }
    return mistakes
  }

  private static func aggregates(of rows: [Row]) -> [(String, SQLValue)] {
    let values = rows.compactMap { integer($0["value"]) }
    let flagged = rows.filter { integer($0["flag"]) == 1 }
    // NULL comes first, then the key decides.
    let placed = rows.sorted {
      (integer($0["place"]) ?? .min, integer($0["id"]) ?? 0)
        < (integer($1["place"]) ?? .min, integer($1["id"]) ?? 0)
    }
    let last = rows.max { (integer($0["id"]) ?? 0) < (integer($1["id"]) ?? 0) }
    let counted = flagged.filter { (integer($0["place"]) ?? 0) > 1 }
    let weighted = rows.compactMap { row in
      integer(row["value"]).flatMap { value in integer(row["place"]).map { value * $0 } }
    }
    let marked = rows.compactMap { integer($0["flag"]) == 1 ? integer($0["value"]) : 1 }
    let widths = rows.compactMap { row in
      integer(row["value"]).map { $0 - (integer(row["place"]) ?? 0) }
    }
    return [
      ("childCount", .integer(Int64(rows.count))), ("valueCount", .integer(Int64(values.count))),
      ("total", .integer(values.reduce(0, +))),
      ("flagged", .integer(counted.compactMap { integer($0["value"]) }.reduce(0, +))),
      (
        "mean",
        values.isEmpty ? .null : .real(Double(values.reduce(0, +)) / Double(values.count))
      ),
      ("low", values.min().map { .integer($0) } ?? .null),
      ("high", .integer(flagged.compactMap { integer($0["value"]) }.max() ?? -1)),
      ("weighted", .integer(weighted.reduce(0, +))), ("marked", .integer(marked.reduce(0, +))),
      ("widest", widths.max().map { .integer($0) } ?? .null),
      ("firstTag", placed.first?["tag"] ?? .null), ("lastTag", last?["tag"] ?? .null),
      (
        "tags",
        rows.isEmpty ? .null : .text(placed.map { text($0["tag"]) }.joined(separator: "+"))
      ),
    ]
  }

  typealias Row = [String: SQLValue]

  static func read(_ table: String, _ connection: Connection) throws -> [Row] {
    try connection.withStatement("SELECT * FROM \(table) ORDER BY id") { statement in
      var rows: [Row] = []
      try statement.forEachRow { row in
        let values = try row.values()
        rows.append(
          Dictionary(
            uniqueKeysWithValues: values.indices.map { (statement.columnName(at: $0), values[$0]) })
        )
      }
      return rows
    }
  }

  private static func integer(_ value: SQLValue?) -> Int64? {
    if case .integer(let number)? = value { number } else { nil }
  }

  private static func text(_ value: SQLValue?) -> String {
    if case .text(let text)? = value { text } else { "" }
  }

  private static func isNull(_ value: SQLValue?) -> Bool { value?.isNull ?? true }

  private static func folded(_ value: SQLValue?) -> String { text(value).lowercased() }
}
