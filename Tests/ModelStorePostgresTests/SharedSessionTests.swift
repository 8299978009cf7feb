#if Postgres
  import Foundation
  import Testing

  @testable import ModelStorePostgres

  /// Sessions of the command line on a member.
  @Suite(
    .tags(.process), .ownThreads, .timeLimit(.minutes(30)),
    .enabled(if: PostgresServer.isInstalled, "PostgreSQL's programs are missing."))
  struct SharedSessionTests {
    private let server: PostgresServer
    private let world: MirrorWorld

    init() throws {
      server = try PostgresServer.shared.get()
      world = try MirrorWorld(server, "session")
    }

    private func start(_ words: [String]) throws -> MemberProcess {
      try MemberProcess(
        ["storecli"] + words, environment: ["STORECLI_LEDGER": server.connection()])
    }

    @discardableResult
    private func run(_ words: String...) throws -> [String] {
      let program = try start(words)
      let lines = program.allLines()
      #expect(program.exitCode() == 0, "\(words): \(lines)")
      return lines
    }

    @Test func aSessionGoesOnAfterAnotherMemberChangedTheSchema() throws {
      let (first, second) = (world.path, world.path + "-b")
      try PlainFile.execute(
        """
        CREATE TABLE t (id INTEGER PRIMARY KEY, a TEXT);
        CREATE TABLE v (id INTEGER PRIMARY KEY, b TEXT);
        """, at: first)
      try run("adopt", "t", "-d", first)
      try run("journal", "on", "-d", first)
      try run("share", "session", "-d", first)
      try run("join", "session", "-d", second)
      let session = try start(["shell", "--keep-going", "-d", first])
      try session.write("insert t a=before")
      try session.read { $0.count == 1 }
      try run("adopt", "v", "-d", second)
      // The first insertion finds that the schema has changed.
      for line in ["insert t a=refused", "insert t a=after", "insert v b=new"] {
        try session.write(line)
      }
      let lines = try session.finish()
      #expect(lines == ["+ t 1  a: \"before\"", "+ t 2  a: \"after\"", "+ v 1  b: \"new\""])
      #expect(try run("query", "v", "-d", first) == ["1\tnew"])
    }

    /// The client library reads the file of services itself, and would take the first server that
    /// answers.
    @Test func theServersOfAServiceAreTriedOneByOne() throws {
      let standby = try PostgresServer()
      try standby.restartAsStandby()
      let hosts = "\(standby.directory),\(server.directory)"
      let ports = "\(standby.port),\(server.port)"
      let services = world.path + "-services"
      try """
      [music]
      host=\(hosts)
      port=\(ports)
      user=\(PostgresServer.owner)
      dbname=postgres

      """.write(toFile: services, atomically: true, encoding: .utf8)
      try PlainFile.execute("CREATE TABLE t (id INTEGER PRIMARY KEY)", at: world.path)
      try run("adopt", "t", "-d", world.path)
      try run("journal", "on", "-d", world.path)
      try run("share", "services", "-d", world.path)
      func status(_ connection: String, _ variables: [String: String] = [:]) throws -> [String] {
        let program = try MemberProcess(
          ["storecli", "ledger", "status", "-d", world.path],
          environment: variables.merging(["STORECLI_LEDGER": connection]) { $1 })
        let lines = program.allLines()
        #expect(program.exitCode() == 0, "\(lines)")
        return lines
      }
      let direct = try status(server.connection())
      #expect(!direct.isEmpty)
      #expect(try status("service=music", ["PGSERVICEFILE": services]) == direct)
      // The environment can have a list of ports for the hosts of the connection string.
      let text = "host=\(hosts) user=\(PostgresServer.owner) dbname=postgres"
      #expect(try status(text, ["PGPORT": ports]) == direct)
    }
  }
#endif
