import ModelStore
import Testing

@Suite(.tags(.unit)) struct SchemaAndMigrationsExample {
  @Test func migrationsRunOnceAndTheRestIsCompared() throws {
    let directory = try TemporaryDirectory()
    let path = directory.file("library.store")
    // snippet: schema-and-migrations
    struct Member: Model {
      var id: Int64
      var name: String
      var email: String?

      static let definition = ModelDefinition<Member>(
        "Member", key: \.id,
        fields: [.init("id", \.id), .init("name", \.name), .init("email", \.email)])

      var key: Int64 { id }

      init(row: borrowing RowView) throws {
        id = try row.decode(at: 0)
        name = try row.decode(at: 1)
        email = try row.decode(at: 2)
      }

      func encode(to arguments: inout ArgumentWriter) throws {
        try id.encode(to: &arguments, at: 0)
        try name.encode(to: &arguments, at: 1)
        try email.encode(to: &arguments, at: 2)
      }
    }

    let migrations = [
      Migration(
        version: 1, name: "create_member",
        sql: "CREATE TABLE Member (id INTEGER PRIMARY KEY, fullName TEXT NOT NULL) STRICT;"),
      Migration(
        version: 2, name: "shorten_name",
        sql: "ALTER TABLE Member RENAME COLUMN fullName TO name;"),
    ]

    var missing: StoreError?
    do {
      _ = try Store(at: path, models: Member.self, migrations: migrations)
    } catch let error as StoreError where error.code == .schemaMismatch {
      missing = error  // … Member.email has no column in the table Member.
    }

    var configuration = StoreConfiguration()
    configuration.schemaChanges = .additive
    let store = try Store(
      at: path, models: Member.self, migrations: migrations, configuration: configuration)
    try store.write { tx in
      try tx.execute("INSERT INTO Member (name) VALUES ('Ada')")
    }
    let members = try store.fetch(Member.all)
    // one member: Ada, without an email
    // end
    #expect(missing?.message.hasSuffix("Member.email has no column in the table Member.") == true)
    #expect(members.map(\.name) == ["Ada"])
    #expect(members.map(\.email) == [nil])
  }

  private struct Named: Model {
    var id: Int64
    var name: String

    static let definition = ModelDefinition<Named>(
      "Member", key: \.id,
      fields: [.init("id", \.id), .init("name", \.name, isUnique: true)])

    var key: Int64 { id }

    init(row: borrowing RowView) throws {
      id = try row.decode(at: 0)
      name = try row.decode(at: 1)
    }

    func encode(to arguments: inout ArgumentWriter) throws {
      try id.encode(to: &arguments, at: 0)
      try name.encode(to: &arguments, at: 1)
    }
  }

  @Test func aPlanIsReadBeforeItIsApplied() throws {
    typealias Member = Named
    let directory = try TemporaryDirectory()
    let path = directory.file("library.store")
    let create = Migration(
      version: 1, name: "create_member",
      sql: """
        CREATE TABLE Member (id INTEGER PRIMARY KEY, name TEXT NOT NULL) STRICT;
        INSERT INTO Member VALUES (1, 'Ada'), (2, 'Grace');
        """)
    try Store(at: path, models: [], migrations: [create]).close()
    // snippet: migration-plan
    let plan = try Store.migrationPlan(at: path, models: [Member.self])
    // rebuild    Member.name UNIQUE   2 rows, ~1 ms

    var configuration = StoreConfiguration()
    configuration.schemaChanges = .migrate
    let store = try Store(
      at: path, models: Member.self, migrations: [create], configuration: configuration)
    // end
    #expect(plan.description == "rebuild    Member.name UNIQUE   2 rows, ~1 ms")
    #expect(try store.migrationPlan().isEmpty)
  }

  @Test func openingReportsHowFarItIs() throws {
    typealias Member = Named
    let directory = try TemporaryDirectory()
    let path = directory.file("library.store")
    let create = Migration(
      version: 1, name: "create_member",
      sql: """
        CREATE TABLE Member (id INTEGER PRIMARY KEY, name TEXT NOT NULL) STRICT;
        INSERT INTO Member VALUES (1, 'Ada'), (2, 'Grace');
        """)
    try Store(at: path, models: [], migrations: [create]).close()
    let lines = Recorder<String>()
    @Sendable func print(_ line: String) { lines.add(line) }
    // snippet: schema-progress
    var configuration = StoreConfiguration(schemaChanges: .migrate)
    configuration.schemaProgress = .init { model, done, all in
      print("\(model): \(done) of \(all) records")
    }
    // end
    try Store(
      at: path, models: Member.self, migrations: [create], configuration: configuration
    ).close()
    #expect(lines.events == ["Member: 0 of 2 records", "Member: 2 of 2 records"])
  }
}
