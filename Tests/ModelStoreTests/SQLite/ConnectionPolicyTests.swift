import CSQLite
import Testing

@testable import ModelStore

/// Every connection has the store's policy from its first moment, whatever its role.
@Suite(.tags(.unit)) struct ConnectionPolicyTests {
  private static let pragmas = [
    "mmap_size", "cell_size_check", "temp_store", "recursive_triggers", "foreign_keys",
    "trusted_schema", "query_only", "synchronous", "wal_autocheckpoint",
  ]

  private func settings(_ connection: Connection) throws -> [String: String] {
    var settings: [String: String] = [:]
    for name in Self.pragmas {
      settings[name] = try connection.firstRow(SQLText(sql: "PRAGMA \(name)")) { row in
        try row.value(at: 0).description
      }
    }
    return settings
  }

  @Test(
    arguments: [Connection.Role.writer, .checkpointer, .reader, .readOnlyFile],
    [
      StoreConfiguration.Durability.full, .normal,
    ])
  func theConnectionPolicyAppliesToEveryRole(
    role: Connection.Role, durability: StoreConfiguration.Durability
  ) throws {
    let scratch = try ScratchDatabase("CREATE TABLE t(x)")
    let connection = try Connection(
      path: scratch.path, role: role, policy: .scratch(durability: durability))
    var expected = [
      "mmap_size": "0", "cell_size_check": "1", "temp_store": "2", "recursive_triggers": "1",
      "foreign_keys": "1", "trusted_schema": "0", "query_only": "0",
      "synchronous": durability == .full ? "2" : "1", "wal_autocheckpoint": "0",
    ]
    if role == .reader || role == .readOnlyFile {
      expected["query_only"] = "1"
      expected["synchronous"] = "2"
    }
    #expect(try settings(connection) == expected)
  }

  @Test(arguments: [
    "SELECT load_extension('x')", "SELECT \"no such column\"", "ATTACH ':memory:' AS other",
    "PRAGMA writable_schema = ON; DELETE FROM sqlite_schema",
    "CREATE INDEX i ON t(\"no such column\")",
  ])
  func dangerousFeaturesAreOff(sql: String) throws {
    let scratch = try ScratchDatabase("CREATE TABLE t(x)")
    for role in [Connection.Role.writer, .reader, .checkpointer] {
      let connection = try Connection(path: scratch.path, role: role, policy: .scratch())
      #expect(thrownError { try connection.execute(sql) } != nil, "\(role)")
    }
    #expect(
      try scratch.connection.rows("SELECT name FROM sqlite_schema") { try $0.text(at: 0) } == ["t"])
  }

  @Test(arguments: [Connection.Role.reader, .readOnlyFile])
  func readersCannotWrite(role: Connection.Role) throws {
    let scratch = try ScratchDatabase("CREATE TABLE t(x)")
    let reader = try Connection(path: scratch.path, role: role, policy: .scratch())
    for sql in ["INSERT INTO t VALUES (1)", "DROP TABLE t", "PRAGMA user_version = 5"] {
      let error = thrownError { try reader.execute(sql) } as? SQLiteError
      #expect(error?.code.primary == .readOnly, "\(sql)")
    }
  }

  @Test func framesOfTheLogAreCounted() throws {
    let scratch = try ScratchDatabase("CREATE TABLE t(x)")
    let before = scratch.connection.hooks.walFrameCount
    try scratch.connection.run("INSERT INTO t VALUES (zeroblob(100000))")
    #expect(before > 0)
    #expect(scratch.connection.hooks.walFrameCount > before + 20)
  }

  @Test func aConnectionThatCannotBeOpenedLeavesNoDescriptor() throws {
    let directory = try TemporaryDirectory()
    let path = directory.file("text.store")
    try "This is no database. ".write(toFile: path)
    for _ in 0..<20 {
      let error = thrownError { try Connection(path: path, role: .writer, policy: .scratch()) }
      #expect((error as? SQLiteError)?.code == .notADatabase)
    }
    #expect(openDescriptors(of: path) == [])
  }

  @Test func aTryWithoutWaitingFailsAtOnceAndLaterOnesWait() throws {
    let scratch = try ScratchDatabase("CREATE TABLE t(x)")
    let other = try Connection(path: scratch.path, role: .writer, policy: .scratch())
    try scratch.connection.execute("BEGIN IMMEDIATE")
    let error = thrownError {
      try other.hooks.withoutWaiting { try other.execute("BEGIN IMMEDIATE") }
    }
    #expect((error as? SQLiteError)?.code.primary == .busy)
    try scratch.connection.rollBack()
    try other.execute("BEGIN IMMEDIATE")
    try other.rollBack()
  }
}
