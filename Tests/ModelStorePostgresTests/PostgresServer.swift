#if Postgres
  import Foundation
  import ModelStore
  import Synchronization

  @testable import ModelStorePostgres

  /// A PostgreSQL server with a new, empty database cluster in a directory of its own.
  ///
  /// It runs as another user if the tests run as root, because PostgreSQL refuses root. A shell
  /// that waits on a pipe ends the server when the tests end, also when they are killed.
  final class PostgresServer: Sendable {
    /// The reason for which the tests are skipped.
    static var isInstalled: Bool { programs != nil && (getuid() != 0 || user != nil) }

    /// The server of most tests, each with a store of its own.
    static let shared = Result { try PostgresServer() }

    /// The user name in the database.
    static let owner = "modelstore"

    let directory: String
    /// It names the socket, and is a port of the loopback address if the server listens there.
    let port: UInt16
    private let settings: [String]
    private let shell = Mutex<Process?>(nil)

    /// - Parameters:
    ///   - settings: As in `postgresql.conf`, for example `fsync=off`.
    ///   - access: Lines for the beginning of `pg_hba.conf`. Otherwise each local user is trusted.
    ///   - isOnLoopback: Whether it listens on 127.0.0.1, too.
    init(settings: [String] = [], access: [String] = [], isOnLoopback: Bool = false) throws {
      // The path of a socket has at most 107 bytes.
      directory = "/tmp/modelstore-pg-\(UInt32.random(in: 0...(.max)))"
      port = isOnLoopback ? try Self.freePort() : 5432
      self.settings =
        settings + [
          "listen_addresses=\(isOnLoopback ? "127.0.0.1" : "")", "port=\(port)",
          "unix_socket_directories=\(directory)", "shared_buffers=16MB", "max_connections=200",
        ]
      try FileManager.default.createDirectory(
        atPath: directory, withIntermediateDirectories: false)
      if let user = Self.user {
        guard chown(directory, user.id, user.group) == 0 else { throw Failure("chown \(errno)") }
      }
      try Self.run(
        Self.words("initdb") + [
          "-D", data, "-A", "trust", "-U", Self.owner, "-N", "-E", "UTF8", "--locale=C",
        ])
      if !access.isEmpty {
        let path = data + "/pg_hba.conf"
        let lines = access + [try String(contentsOfFile: path, encoding: .utf8)]
        try Data(lines.joined(separator: "\n").utf8).write(to: URL(fileURLWithPath: path))
      }
      try start()
    }

    deinit {
      do {
        // The end of the pipe stops the server and removes its files.
        try shell.withLock { try Self.finish($0, keeping: false) }
      } catch {
        print("\(directory): \(error)")
      }
    }

    private var data: String { directory + "/data" }

    /// A connection string.
    func connection(
      user: String = PostgresServer.owner, database: String = "postgres", host: String? = nil
    ) -> String {
      "host=\(host ?? directory) port=\(port) user=\(user) dbname=\(database)"
    }

    func ledger(_ store: String, limits: Limits = Limits()) throws -> PostgresLedger {
      try PostgresLedger(connection: connection(), store: store, limits: limits)
    }

    /// Runs statements as the owner.
    ///
    /// - Returns: The results of the last one.
    @discardableResult
    func execute(_ statements: String...) throws -> PostgresResult {
      let connection = try PostgresConnection.open(
        ConnectionString(connection()), Limits(), for: .records)
      var results: [PostgresResult] = []
      for statement in statements {
        results = try connection.run([(.once(statement), [])], until: .now + .seconds(60))
      }
      return results[0]
    }

    // Its life

    /// Starts it and waits until it takes connections.
    func start() throws {
      let script = """
        if "$@" start >"$0/start.log" 2>&1; then echo ready; else echo failed; fi
        if read -r line; then "$@" -m fast stop; else "$@" -m immediate stop; rm -rf "$0"; fi
        """
      let options = settings.map { "-c '\($0)'" }.joined(separator: " ")
      let words =
        Self.words("pg_ctl") + ["-D", data, "-l", directory + "/log", "-w", "-s", "-o", options]
      let process = Process()
      process.executableURL = URL(fileURLWithPath: "/bin/sh")
      process.arguments = ["-c", script, directory] + words
      process.environment = ["PATH": "/usr/bin:/bin:/usr/sbin:/sbin"]
      process.currentDirectoryURL = URL(fileURLWithPath: "/")
      let output = Pipe()
      process.standardInput = Pipe()
      process.standardOutput = output
      process.standardError = FileHandle.nullDevice
      try process.run()
      let answer = output.fileHandleForReading.availableData
      shell.withLock { $0 = process }
      guard String(decoding: answer, as: UTF8.self) == "ready\n" else {
        let log = (try? String(contentsOfFile: directory + "/log", encoding: .utf8)) ?? ""
        throw Failure("PostgreSQL did not start: \(log.suffix(2000))")
      }
    }

    /// Starts it again as a standby, which can only be read, of a primary that it cannot reach.
    func restartAsStandby() throws {
      try stop()
      try Data().write(to: URL(fileURLWithPath: data + "/standby.signal"))
      try start()
    }

    /// Has a standby take writes, and waits until it does.
    func promote() throws {
      let text = connection() + " target_session_attrs=any"
      let standby = try PostgresConnection.open(ConnectionString(text), Limits(), for: .records)
      _ = try standby.run([(.once("SELECT pg_promote()"), [])], until: .now + .seconds(60))
    }

    /// Ends it in order: sessions end, the files stay.
    func stop() throws {
      try shell.withLock { shell in
        try Self.finish(shell, keeping: true)
        shell = nil
      }
    }

    private static func finish(_ shell: Process?, keeping: Bool) throws {
      guard let shell, let input = shell.standardInput as? Pipe else { return }
      if keeping { try input.fileHandleForWriting.write(contentsOf: Data("\n".utf8)) }
      try input.fileHandleForWriting.close()
      shell.waitUntilExit()
    }

    /// Ends it as a crash does: all its processes at once, by a signal that they cannot handle.
    func kill() throws {
      let pids = try signal(SIGKILL)
      // Its memory is free when the last process has ended.
      for pid in pids { try Self.waitForEnd(of: pid) }
      try stop()
    }

    /// Sends a signal to all its processes.
    @discardableResult
    func signal(_ number: Int32) throws -> [pid_t] {
      let text = try String(contentsOfFile: data + "/postmaster.pid", encoding: .utf8)
      guard let pid = pid_t(text.prefix { !$0.isNewline }) else { throw Failure(text) }
      let children = try String(
        contentsOfFile: "/proc/\(pid)/task/\(pid)/children", encoding: .utf8)
      let pids = [pid] + children.split(separator: " ").compactMap { pid_t($0) }
      for pid in pids { Foundation.kill(pid, number) }
      return pids
    }

    /// The system has no descriptor for the end of another program's child, so this polls.
    private static func waitForEnd(of pid: pid_t) throws {
      let clock = try WakePipe()
      while let text = try? String(contentsOfFile: "/proc/\(pid)/stat", encoding: .utf8),
        let state = text.split(separator: ")").last?.first(where: { $0 != " " }), state != "Z"
      {
        _ = SocketWait.wait(
          for: clock.descriptor, Int32(POLLIN), until: .now + .milliseconds(5))
      }
    }

    // Its standby

    /// Has each COMMIT wait for a standby from now on.
    ///
    /// - Parameter name: The only standby that counts; `*` for any.
    func requireStandby(_ name: String = "*") throws {
      try execute("ALTER SYSTEM SET synchronous_standby_names = '\(name)'")
      try execute("SELECT pg_reload_conf()")
      while try execute("SHOW synchronous_standby_names").text(0, 0) != name {}
      // Commits wait a little later, when another process has seen the setting, too.
      var limits = Limits()
      limits.standby = .milliseconds(100)
      while (try? PostgresConnection.open(
        ConnectionString(connection()), limits, for: .ledger)) != nil
      {}
    }

    /// Starts a standby, for which each COMMIT waits from now on.
    func withStandby() throws -> Process {
      try requireStandby()
      return try startStandby()
    }

    /// Repeats what a member with short limits asks, because the standby may be slow to answer.
    static func whenAnswered<Result>(_ body: () throws -> Result) throws -> Result {
      for _ in 0..<100 {
        do { return try body() } catch LedgerError.unreachable {}
      }
      return try body()
    }

    /// No COMMIT waits from now on.
    func requireNoStandby() throws {
      try execute("ALTER SYSTEM RESET synchronous_standby_names")
      try execute("SELECT pg_reload_conf()")
    }

    /// Starts a program that takes the log as a standby does, and confirms what it has written.
    /// It returns when the server waits for it.
    func startStandby() throws -> Process {
      let log = directory + "/standby"
      try FileManager.default.createDirectory(atPath: log, withIntermediateDirectories: true)
      if let user = Self.user { _ = chown(log, user.id, user.group) }
      let words =
        Self.words("pg_receivewal") + ["-D", log, "--synchronous", "--no-loop", "-d", connection()]
      let process = Process()
      process.executableURL = URL(fileURLWithPath: words[0])
      process.arguments = Array(words.dropFirst())
      process.environment = ["PATH": "/usr/bin:/bin"]
      process.currentDirectoryURL = URL(fileURLWithPath: "/")
      process.standardInput = FileHandle.nullDevice
      process.standardError = FileHandle.nullDevice
      try process.run()
      let query = "SELECT 1 FROM pg_stat_replication WHERE sync_state = 'sync'"
      while process.isRunning, try execute(query).rowCount == 0 {}
      guard process.isRunning else { throw Failure("The standby did not start.") }
      return process
    }

    /// Ends a standby at once. A thread of a queue starts programs with most signals blocked.
    static func end(_ standby: Process) {
      Foundation.kill(standby.processIdentifier, SIGKILL)
      standby.waitUntilExit()
    }

    /// How many sessions wait for the standby.
    var standbyWaitCount: Int {
      get throws {
        try execute("SELECT 1 FROM pg_stat_activity WHERE wait_event = 'SyncRep'").rowCount
      }
    }

    /// How many of them wait with a write, not with a check of the standby.
    var commitWaitCount: Int {
      get throws {
        try execute(
          "SELECT 1 FROM pg_stat_activity WHERE wait_event = 'SyncRep' AND query = 'COMMIT'"
        ).rowCount
      }
    }

    /// Cancels as an administrator does who lost patience.
    func cancelWaitForStandby() throws {
      for _ in 0..<5_000 where try execute(Self.cancellation).rowCount > 0 { return }
      throw Failure("No session waits for a standby.")
    }

    /// The condition that a session listens. It may have sent a notification since.
    static let listens = "(query LIKE 'LISTEN%' OR query LIKE 'SELECT pg_notify(%')"

    /// Waits until that many sessions listen, whose notifications are lost otherwise.
    func waitForListeners(_ count: Int) throws {
      let query = "SELECT 1 FROM pg_stat_activity WHERE \(Self.listens)"
      for _ in 0..<5_000 where try execute(query).rowCount >= count { return }
      throw Failure("No session listens.")
    }

    /// Cancels each session that waits for the standby now.
    static let cancellation = """
      SELECT pg_cancel_backend(pid), pg_sleep(0.01) FROM pg_stat_activity
      WHERE wait_event = 'SyncRep'
      """

    // Programs

    struct Failure: Error, CustomStringConvertible {
      let description: String
      init(_ description: String) { self.description = description }
    }

    /// The directory of PostgreSQL's programs. Debian keeps each version in one of its own.
    private static let programs: String? = {
      let root = "/usr/lib/postgresql"
      let versions = (try? FileManager.default.contentsOfDirectory(atPath: root)) ?? []
      let own = versions.compactMap { Int($0) }.sorted(by: >).map { "\(root)/\($0)/bin" }
      return (own + ["/usr/bin", "/usr/local/bin"]).first { directory in
        FileManager.default.isExecutableFile(atPath: directory + "/initdb")
      }
    }()

    /// The user that runs the server; nil for the user of the tests.
    private static let user: (name: String, id: uid_t, group: gid_t)? = {
      guard getuid() == 0 else { return nil }
      for name in ["postgres", "nobody"] {
        if let entry = getpwnam(name) { return (name, entry.pointee.pw_uid, entry.pointee.pw_gid) }
      }
      return nil
    }()

    private static func words(_ program: String) -> [String] {
      let path = "\(programs ?? "")/\(program)"
      guard let user else { return [path] }
      return ["/usr/bin/setpriv", "--reuid=\(user.id)", "--regid=\(user.group)", "--clear-groups"]
        + [path]
    }

    private static func run(_ words: [String]) throws {
      let process = Process()
      process.executableURL = URL(fileURLWithPath: words[0])
      process.arguments = Array(words.dropFirst())
      process.environment = ["PATH": "/usr/bin:/bin"]
      process.currentDirectoryURL = URL(fileURLWithPath: "/")
      let output = Pipe()
      process.standardInput = FileHandle.nullDevice
      process.standardOutput = FileHandle.nullDevice
      process.standardError = output
      try process.run()
      let text = String(decoding: output.fileHandleForReading.readDataToEndOfFile(), as: UTF8.self)
      process.waitUntilExit()
      guard process.terminationStatus == 0 else { throw Failure("\(words): \(text)") }
    }

    /// A port that no program used just now.
    static func freePort() throws -> UInt16 {
      let listening = socket(AF_INET, Int32(SOCK_STREAM.rawValue), 0)
      guard listening >= 0 else { throw Failure("socket \(errno)") }
      defer { close(listening) }
      var address = sockaddr_in()
      address.sin_family = sa_family_t(AF_INET)
      address.sin_addr.s_addr = UInt32(0x7F00_0001).bigEndian
      var length = socklen_t(MemoryLayout<sockaddr_in>.size)
      let code = withUnsafeMutablePointer(to: &address) { pointer in
        pointer.withMemoryRebound(to: sockaddr.self, capacity: 1) {
          bind(listening, $0, length) == 0 ? getsockname(listening, $0, &length) : -1
        }
      }
      guard code == 0 else { throw Failure("bind \(errno)") }
      return UInt16(bigEndian: address.sin_port)
    }
  }

  extension Limits {
    /// Of a member that soon gives up waiting for a standby.
    static var short: Limits {
      var limits = Limits()
      limits.standby = .milliseconds(300)
      return limits
    }
  }
#endif
