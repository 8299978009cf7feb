import Foundation
import Testing

@testable import ModelStore

/// Every kind of binding in a store, on every path: what the file holds is right, checks find
/// nothing, and the objects in memory that bound fields are bound to have the same values.
@Suite(.tags(.law)) struct BindingStoreTests {
  /// One import, as the command line does it: record by record in one transaction, and what a rule
  /// refuses is left out.
  private struct Import {
    let name: String
    let model: String
    var isUpsert = false
    let records: [[String: Cell]]
  }

  private struct Cell: ExpressibleByIntegerLiteral, ExpressibleByStringLiteral,
    ExpressibleByNilLiteral
  {
    let value: SQLValue

    init(integerLiteral number: Int64) { value = .integer(number) }
    init(stringLiteral text: String) { value = .text(text) }
    init(nilLiteral: ()) { value = .null }
  }

  private static let imports = [
    Import(
      name: "import children", model: "Child",
      records: [
        [
          "id": 9, "parentID": 2, "code": "c", "tag": "i1", "value": 3, "place": 2,
          "note": "was 99 once",
        ],
        ["id": 6, "parentID": nil, "tag": "i2", "value": nil],
        ["parentID": 3, "tag": "i3", "value": 20, "flag": 0],
        [
          "id": 60, "parentID": 1, "tag": "i4", "value": 4, "parentName": "x", "shout": "x",
          "kept": "x", "unit": "x", "codeName": "x", "parentTotal": 5,
        ],
        ["id": 12, "parentID": 1, "tag": "t1", "value": 100],
        ["id": 13, "parentID": 77, "tag": "i5", "value": 100],
        ["id": 14, "parentID": 2, "tag": "i6", "millis": 8000],
      ]),
    Import(
      name: "import over children", model: "Child", isUpsert: true,
      records: [
        ["id": 1, "parentID": 2, "tag": "t1", "value": 70],
        ["id": 2, "tag": "t2", "value": 6, "flag": 1, "code": "C"],
        ["id": 3, "tag": "t3", "millis": 5000, "note": "of 12"],
        ["id": 4, "parentID": nil, "tag": "t5", "value": 1],
        ["id": 5, "parentID": 3, "tag": "t5 too", "flag": 0, "place": nil],
        ["id": 9, "parentID": 3, "tag": "i1", "value": -2],
      ]),
    Import(
      name: "import parents", model: "Parent",
      records: [
        ["id": 6, "code": "t", "name": "Tia"],
        ["id": 7, "code": "B", "name": "Beth"],
        [
          "id": 9, "code": "ZZ", "name": "Zed", "childCount": 5, "total": 5, "tags": "x",
          "nick": "zz",
        ],
      ]),
    Import(
      name: "import over parents", model: "Parent", isUpsert: true,
      records: [
        ["id": 1, "code": "a", "name": "Ada", "nick": "x", "total": 7],
        ["id": 2, "code": "zz", "name": "Bob", "nick": nil],
        ["id": 5, "code": "e", "name": "Eve"],
      ]),
    Import(
      name: "import settings", model: "Setting", isUpsert: true,
      records: [
        ["id": 1, "unit": "min"], ["id": 2, "unit": "s", "alias": "theirs"],
        ["id": 3, "unit": "h", "alias": "mine"], ["id": 9, "unit": "h", "alias": "alone"],
      ]),
    Import(
      name: "import summaries", model: "Summary", isUpsert: true,
      records: [["id": 1, "children": 77, "total": 77, "best": 77], ["id": 3]]),
    Import(
      name: "import many", model: "Child", isUpsert: true,
      records: (1...600).map { (number: Int64) -> [String: Cell] in
        var record = ["id": Cell(integerLiteral: number), "tag": Cell(stringLiteral: "m\(number)")]
        record["parentID"] = Cell(integerLiteral: number % 3 + 1)
        record["value"] = Cell(integerLiteral: number % 7)
        record["flag"] = Cell(integerLiteral: number % 2)
        return record
      }),
  ]

  private enum Writer: String, CaseIterable {
    case library, foreign
  }

  @Test("every kind of binding holds on every path, in the file and in memory")
  func kindsHold() async throws {
    let world = try World()
    for path in BindingPathTests.paths {
      // Tests that wait for something need a thread now and then.
      await Task.yield()
      for writer in Writer.allCases {
        try world.reset()
        switch writer {
        case .library: try world.write(path.sql)
        case .foreign: try world.writeElsewhere(path.sql)
        }
        #expect(try world.mistakes() == [], "\(path), \(writer)")
      }
    }
    try checkImports(in: world)
  }

  @Test("every kind of binding holds after migrations have rebuilt each table")
  func kindsHoldAfterRebuilding() async throws {
    let world = try World(rebuilding: ["Parent", "Child", "Setting", "Summary"])
    for path in BindingPathTests.paths {
      await Task.yield()
      try world.reset()
      try world.writeElsewhere(path.sql)
      #expect(try world.mistakes() == [], "\(path)")
    }
    try checkImports(in: world)
  }

  private func checkImports(in world: World) throws {
    for content in Self.imports {
      try world.reset()
      try world.store.write { tx in
        let schema = try world.store.schema.model(named: content.model)
        for record in content.records.map({ $0.mapValues(\.value) }) {
          do {
            if content.isUpsert {
              try tx.upsert(record, into: schema)
            } else {
              try tx.insert(record, into: schema)
            }
          } catch let error as StoreError where error.code == .rejected {
            continue
          }
        }
      }
      #expect(try world.mistakes() == [], "\(content.name)")
    }
  }

  @Test("without its subscriptions an object in memory is out of date")
  func objectsFollow() throws {
    let world = try World()
    try world.reset()
    #expect(try world.mistakes() == [])
    let path = world.directory.file("zoo.store")
    for subscription in world.subscriptions { subscription.cancel() }
    try PlainDatabase(path).execute("UPDATE Child SET value = 70 WHERE id = 1")
    try world.store.refresh()
    let fields = Set(try world.mistakes().compactMap { $0.components(separatedBy: ":").first })
    #expect(fields.isSuperset(of: ["Parent.total 1", "Child.parentTotal 1", "Summary.best 1"]))
  }
}

/// The zoo in a store, and every bound field of some records bound into an object.
private struct World {
  let directory: TemporaryDirectory
  let store: Store
  let objects: [ZooObject]
  let subscriptions: [ObservationToken]
  private let other: PlainDatabase

  /// - Parameter tables: What migrations rebuild, one after the other, before anything else.
  init(rebuilding tables: [String] = []) throws {
    directory = try TemporaryDirectory()
    let path = directory.file("zoo.store")
    var configuration = StoreConfiguration()
    configuration.durability = .normal
    // The indexes that go with a table.
    configuration.schemaChanges = .additive
    func open(_ migrations: ArraySlice<Migration>) throws -> Store {
      try Store(
        at: path, models: ZooParent.self, ZooChild.self, ZooSetting.self, ZooSummary.self,
        migrations: Array(migrations), bindings: BindingZoo.bindings.map { FieldBinding($0) },
        configuration: configuration)
    }
    var store = try open([])
    let other = try PlainDatabase(path)
    // Only one program is to make checkpoints: many versions of SQLite damage the file otherwise.
    try other.execute("PRAGMA wal_autocheckpoint = 0; PRAGMA synchronous = OFF")
    if !tables.isEmpty {
      try other.execute(BindingZoo.rows)
      let objects =
        "SELECT name, sql FROM sqlite_schema WHERE name GLOB '_ms_binding_*' ORDER BY name"
      let before = try other.rows(objects)
      let migrations = try tables.enumerated().map { index, table in
        try Self.rebuild(table, version: Int64(index + 1), in: other)
      }
      for count in 1...migrations.count {
        store.close()
        store = try open(migrations[..<count])
        #expect(try other.rows(objects) == before, "\(tables[count - 1])")
        #expect(try store.bindingFindings() == [], "\(tables[count - 1])")
        #expect(
          try store.read { try BindingZoo.mistakes(on: $0.access.connection) } == [],
          "\(tables[count - 1])")
      }
    }
    self.other = other
    self.store = store
    (objects, subscriptions) = try store.zooObjects(keys: [1, 2, 3, 4, 5, 6, 9, 60])
  }

  private static func rebuild(
    _ table: String, version: Int64, in database: PlainDatabase
  ) throws -> Migration {
    let found = try database.rows("SELECT sql FROM sqlite_schema WHERE name = '\(table)'")
    guard case .text(let definition)? = found.first?.first else {
      preconditionFailure("There is no table \(table).")
    }
    return Migration(
      version: version, name: "rebuild \(table)",
      sql: """
        PRAGMA legacy_alter_table = ON;
        \(definition.replacing("\"\(table)\"", with: "\"\(table)_new\""));
        INSERT INTO "\(table)_new" SELECT * FROM "\(table)";
        DROP TABLE "\(table)";
        ALTER TABLE "\(table)_new" RENAME TO "\(table)";
        """)
  }

  /// Back to the rows that all paths begin with.
  func reset() throws {
    try other.execute(
      """
      BEGIN IMMEDIATE;
      DELETE FROM Child; DELETE FROM Parent; DELETE FROM Setting; DELETE FROM Summary;
      \(BindingZoo.rows)
      COMMIT;
      """)
    try store.refresh()
  }

  /// In one transaction; where that is refused, each statement in one of its own.
  func write(_ script: String) throws {
    let statements = script.split(separator: "; ").map { SQLText(sql: String($0)) }
    do {
      try store.write { tx in for sql in statements { try tx.execute(sql) } }
    } catch is StoreError {
      for sql in statements {
        do {
          try store.write { tx in try tx.execute(sql) }
        } catch is StoreError {
          continue
        }
      }
    }
  }

  func writeElsewhere(_ script: String) throws {
    do {
      try other.execute(script)
    } catch is PlainDatabase.Failure {
      // Refused, as some are meant to be. What came before stays.
    }
    try store.refresh()
  }

  func mistakes() throws -> [String] {
    store.waitForDelivery()
    let inFile = try store.read { reads in
      let connection = reads.access.connection
      var mistakes = try BindingZoo.mistakes(on: connection)
      var rows: [String: [SQLValue: BindingZoo.Row]] = [:]
      for model in ["Parent", "Child", "Setting", "Summary"] {
        let found = try BindingZoo.read(model, connection).map { ($0["id"] ?? .null, $0) }
        rows[model] = Dictionary(uniqueKeysWithValues: found)
      }
      for object in objects {
        // Events carry values: an object keeps the last value of a deleted record.
        guard let row = rows[object.model]?[.integer(object.key)] else { continue }
        let (stored, held) = (row[object.field] ?? .null, try object.value())
        guard stored != held else { continue }
        mistakes.append("\(object.model).\(object.field) \(object.key): \(held), not \(stored)")
      }
      return mistakes
    }
    return inFile + (try store.bindingFindings().map { "\($0)" })
  }
}
