@testable import ModelStore

/// A random pair of schemas of one application, with records, and with objects that the application
/// made itself.
struct MigrationWorld {
  var old: [ModelSchema]
  var new: [ModelSchema]
  var bindings: [FieldBinding] = []
  var newBindings: [FieldBinding] = []
  /// The migrations of the new version: none, or a rename.
  private(set) var migrations: [Migration] = []
  var journal: JournalDetail?
  /// What another program adds to the file of the old version.
  private(set) var script = ""
  /// The columns that get a wider type, as `Todo.size`.
  private(set) var widened: Set<String> = []
  /// Whether a change of the pair loses data.
  private(set) var isLossy = false

  init(_ generator: inout SeededGenerator) {
    old = [Self.list, Self.todo, Self.tag]
    for _ in 0..<Int.random(in: 0...4, using: &generator) { Self.vary(&old, &generator) }
    if Int.random(in: 0..<3, using: &generator) == 0 { old[0].lists = [Self.todos] }
    new = old
    let binding = FieldBinding.copy(from: "List.name", to: "Todo.listName", through: "Todo.list")
    switch Int.random(in: 0..<5, using: &generator) {
    case 0, 1: (bindings, newBindings) = ([binding], [binding])
    case 2: newBindings = [binding]
    default: break
    }
    journal = [nil, .full, .keys].randomElement(using: &generator) ?? nil
    for _ in 0..<Int.random(in: 1...5, using: &generator) { change(&generator) }
    if Int.random(in: 0..<6, using: &generator) == 0 { rename() }
    addObjects(&generator)
  }

  private static let list = ModelSchema(
    name: "List",
    fields: [
      FieldSchema(name: "id", type: .integer, isRowID: true),
      FieldSchema(name: "name", type: .text),
      FieldSchema(name: "code", type: .text, isOptional: true),
    ], key: ["id"])

  private static let todo = ModelSchema(
    name: "Todo", table: "the todos",
    fields: [
      FieldSchema(name: "id", type: .integer, isRowID: true),
      FieldSchema(name: "title", column: "ti\"tle", type: .text, isOptional: true),
      FieldSchema(name: "size", type: .integer, isOptional: true),
      FieldSchema(
        name: "list", type: .integer, isOptional: true,
        reference: ReferenceSchema(table: "List", onDelete: .cascade)),
      FieldSchema(name: "listName", type: .text, isOptional: true),
      FieldSchema(name: "done", type: .boolean, defaultSQL: "0"),
    ], key: ["id"])

  /// An ordered list of todos.
  private static let todos = ListSchema(
    name: "todos", elementTable: "the todos", slotTable: "slots")

  private static let tag = ModelSchema(
    name: "Tag",
    fields: [
      FieldSchema(name: "word", type: .text), FieldSchema(name: "list", type: .integer),
      FieldSchema(name: "weight", type: .real, isOptional: true),
    ], key: ["word", "list"], isWithoutRowID: true)

  // Changes

  /// Changes that need no rebuild of existing data, to vary the first version.
  private static func vary(_ models: inout [ModelSchema], _ generator: inout SeededGenerator) {
    let number = Int.random(in: 0...999, using: &generator)
    switch Int.random(in: 0..<6, using: &generator) {
    case 0: models[1].fields[1].isOptional.toggle()
    case 1: models[0].fields[1].isUnique = true
    case 2: models[1].fields[1].collation = .nocase
    case 3: models[2].isWithoutRowID.toggle()
    case 4:
      models[1].indexes.append(
        IndexSchema(name: "by \(number)", fields: ["size", "title"], isUnique: false))
    default: models[0].uniques = [["name", "code"]]
    }
  }

  private mutating func change(_ generator: inout SeededGenerator) {
    let model = Int.random(in: 0..<3, using: &generator)
    let number = new[model].fields.count * 100 + Int.random(in: 0...99, using: &generator)
    switch Int.random(in: 0..<23, using: &generator) {
    case 0:
      new[model].fields.append(FieldSchema(name: "f\(number)", type: .text, isOptional: true))
    case 1:
      new[model].fields.append(
        FieldSchema(name: "f\(number)", type: .integer, defaultSQL: "\(number)"))
    case 2:
      new[model].fields.append(
        FieldSchema(name: "f\(number)", type: .text, isOptional: true, isUnique: true))
    case 3: new[1].fields[1].isOptional.toggle()
    case 4: new[1].fields[2].isOptional.toggle()
    case 5: new[1].fields[1].isUnique.toggle()
    case 6: new[0].uniques = new[0].uniques.isEmpty ? [["code", "name"]] : []
    case 7:
      new[model].rules.append(
        RuleSchema(name: "r\(number)", message: "", condition: Self.conditions[model]))
    case 8:
      new[1].fields[2].rules = [
        RuleSchema(name: "Todo.size.\(number)", message: "", condition: "size < \(number)")
      ]
    case 9: retype()
    case 10:
      new[1].fields[1].collation =
        [.binary, .nocase, .rtrim].randomElement(using: &generator) ?? .binary
    case 11: new[1].fields[2].defaultSQL = new[1].fields[2].type == .integer ? "\(number)" : nil
    case 12:
      new[1].fields[3].reference =
        new[1].fields[3].reference == nil ? ReferenceSchema(table: "List") : nil
    case 13: new[2].fields[1].reference = ReferenceSchema(table: "List", onDelete: .cascade)
    case 14: new[1].fields[3].reference?.onDelete = .setNull
    case 15:
      new[0].indexes = [
        IndexSchema(name: "codes", fields: ["code"], isUnique: Bool.random(using: &generator))
      ]
    case 16, 17, 18: addTogether(model, number, &generator)
    case 19:
      new[1].fields[1].collation = .nocase
      new[1].fields[1].isUnique = true
    case 20:
      new[1].fields[1].collation = .nocase
      new[1].rules.append(
        RuleSchema(name: "r\(number)", message: "", condition: "\"ti\"\"tle\" <> 't4'"))
    case 21: new[0].lists = new[0].lists.isEmpty ? [Self.todos] : []
    default:
      guard newBindings.isEmpty, Int.random(in: 0..<3, using: &generator) == 0 else { return }
      if new[1].fields.count > 4, new[1].fields[4].name == "listName" {
        new[1].fields.remove(at: 4)
      }
      isLossy = true
    }
  }

  /// Renames a field, which takes a migration.
  private mutating func rename() {
    new[0].fields[2].name = "sign"
    new[0].fields[2].column = "sign"
    func renamed(_ names: [String]) -> [String] { names.map { $0 == "code" ? "sign" : $0 } }
    new[0].uniques = new[0].uniques.map(renamed)
    for index in new[0].indexes.indices {
      new[0].indexes[index].fields = renamed(new[0].indexes[index].fields)
    }
    migrations = [Migration(version: 1, name: "rename", sql: Self.renaming)]
  }

  static let renaming = "ALTER TABLE List RENAME COLUMN code TO sign"

  /// The names of the tables and indexes that models declare.
  var declaredNames: Set<String> {
    get throws {
      Set(
        try (old.withSlotModels() + new.withSlotModels()).flatMap { SchemaSQL($0).objects }
          .map(\.name))
    }
  }

  /// The columns that a new binding fills, as `Todo.size`.
  var filled: Set<String> { bindings.isEmpty && !newBindings.isEmpty ? ["the todos.listName"] : [] }

  /// A new field, and a constraint that names it.
  private mutating func addTogether(
    _ model: Int, _ number: Int, _ generator: inout SeededGenerator
  ) {
    let name = "f\(number)"
    let other = ["name", "size", "weight"][model]
    guard new[model].field(named: name) == nil else { return }
    new[model].fields.append(FieldSchema(name: name, type: .integer, defaultSQL: "\(number)"))
    switch Int.random(in: 0..<3, using: &generator) {
    case 0: new[model].uniques.append([name, other])
    case 1:
      new[model].indexes.append(
        IndexSchema(name: "with \(name)", fields: [other, name], isUnique: true))
    default:
      new[model].rules.append(
        RuleSchema(name: "r\(name)", message: "", condition: "\(name) > length(\(other))"))
    }
  }

  private mutating func retype() {
    guard new[1].fields[2].type == .integer, old[1].fields[2].type == .integer,
      new[1].fields[2].rules.isEmpty, new[1].fields[2].defaultSQL == nil
    else { return }
    new[1].fields[2].type = .real
    widened.insert("the todos.size")
  }

  private static let conditions = ["length(name) < 6", "size > -5 OR done", "weight >= 0"]

  // Records and objects

  private mutating func addObjects(_ generator: inout SeededGenerator) {
    script = """
      CREATE TABLE log (id INTEGER PRIMARY KEY AUTOINCREMENT, text);
      INSERT INTO log (id, text) VALUES (17, 'x');
      DELETE FROM log;
      """
    let objects = [
      "CREATE TRIGGER app1 AFTER INSERT ON \"the todos\" BEGIN INSERT INTO log (text) VALUES ('1'); END;",
      "CREATE TRIGGER app2 AFTER DELETE ON \"the todos\" BEGIN INSERT INTO log (text) VALUES ('2'); END;",
      "CREATE TRIGGER app3 AFTER UPDATE ON List BEGIN INSERT INTO log (text) SELECT id FROM \"the todos\"; END;",
      "CREATE TRIGGER app4 BEFORE DELETE ON Tag BEGIN INSERT INTO log (text) VALUES (old.word); END;",
      "CREATE VIEW things AS SELECT t.id, l.name FROM \"the todos\" AS t JOIN List AS l ON l.id = t.list;",
      "CREATE VIEW words AS SELECT word FROM Tag;",
      "CREATE TRIGGER app5 INSTEAD OF DELETE ON words BEGIN DELETE FROM Tag WHERE word = old.word; END;",
      "CREATE INDEX partial ON \"the todos\" (size) WHERE done = 1;",
      "CREATE INDEX expression ON \"the todos\" (abs(size) DESC, id);",
      "CREATE INDEX lengths ON List (length(name)) WHERE code IS NOT NULL;",
      "CREATE TABLE computed (id INTEGER PRIMARY KEY, t INTEGER REFERENCES \"the todos\" ON DELETE SET NULL, twice AS (t * 2) STORED, half AS (t / 2)); INSERT INTO computed (t) SELECT id FROM \"the todos\";",
      "CREATE TABLE child (t INTEGER REFERENCES \"the todos\" ON DELETE CASCADE ON UPDATE CASCADE);",
      "CREATE TABLE labels (w, l, FOREIGN KEY (w, l) REFERENCES Tag ON DELETE CASCADE);",
    ]
    let share = Double.random(in: 0...1, using: &generator)
    var made: Set<Int> = []
    for index in objects.indices where Double.random(in: 0..<1, using: &generator) < share {
      // A trigger on a view needs the view.
      guard index != Self.viewTrigger || made.contains(Self.viewTrigger - 1) else { continue }
      made.insert(index)
      script += objects[index]
    }
  }

  /// The place of the trigger on a view, which follows its view.
  private static let viewTrigger = 6

  /// Tables of the first version, which have more than a model declares.
  var tables: String {
    get throws {
      try old.withSlotModels().flatMap { SchemaSQL($0).objects }.map { object in
        guard object.name == "the todos", object.kind == .table else { return object.sql + ";\n" }
        return object.sql.replacingFirst(
          "PRIMARY KEY", with: "PRIMARY KEY AUTOINCREMENT -- never again\n") + ";\n"
      }.joined()
    }
  }

  /// Rows that fit the first version, and some of the time also the second.
  func rows(_ generator: inout SeededGenerator) -> [SQLText] {
    var rows: [SQLText] = []
    let isTame = Int.random(in: 0..<4, using: &generator) > 0
    let count = Int.random(in: 0...40, using: &generator)
    for id in 0..<count {
      let code: SQLValue = isTame || id % 3 > 0 ? .text("c\(id)") : .null
      rows.append("INSERT INTO List (id, name, code) VALUES (\(id * 2), \("n\(id)"), \(code))")
    }
    for id in 0..<count {
      let title: SQLValue = isTame || id % 5 > 0 ? .text("T\(id)") : .text("t\(id + 1)")
      let size: SQLValue =
        isTame ? .integer(Int64(id)) : id % 7 == 0 ? .null : .integer(1 << 54 + 1)
      rows.append(
        """
        INSERT INTO "the todos" (id, "ti""tle", size, list, done)
        VALUES (\(id * 3), \(title), \(size), \(id * 2), \(id % 2))
        """)
    }
    for id in 0..<count / 2 {
      let list = isTame ? id * 2 : id * 3
      rows.append("INSERT INTO Tag VALUES (\("w\(id)"), \(list), \(Double(id) / 4))")
    }
    if !old[0].lists.isEmpty {
      for id in 0..<count {
        rows.append(
          "INSERT INTO slots (owner, label, element) VALUES (\(id * 2), \(id * 8), \(id * 3))")
      }
    }
    if count > 0 { rows.append("DELETE FROM \"the todos\" WHERE id = \((count - 1) * 3)") }
    return rows
  }
}

extension String {
  fileprivate func replacingFirst(_ old: String, with new: String) -> String {
    guard let range = ranges(of: old).first else { return self }
    return replacingCharacters(in: range, with: new)
  }

  private func replacingCharacters(in range: Range<Index>, with new: String) -> String {
    var copy = self
    copy.replaceSubrange(range, with: new)
    return copy
  }
}
