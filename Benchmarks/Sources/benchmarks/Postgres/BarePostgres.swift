#if Postgres
  import Foundation
  import RawPostgres

  /// A connection through PostgreSQL's C library, with nothing around it.
  final class BarePostgres {
    /// A prepared statement with its values, in PostgreSQL's binary form.
    typealias Step = (name: String, values: [[UInt8]])

    private let connection: OpaquePointer

    /// The server of the workloads.
    ///
    /// - Throws: ``MissingPeer`` if no server is named.
    static func address() throws -> String {
      let name = "BENCHMARK_POSTGRES"
      guard let address = ProcessInfo.processInfo.environment[name], !address.isEmpty else {
        throw MissingPeer(
          message: "Set \(name) to a connection of a PostgreSQL database of its own.")
      }
      return address
    }

    init(_ address: String) throws {
      guard let connection = PQconnectdb(address) else { throw BenchmarkFailure("No memory.") }
      self.connection = connection
      guard PQstatus(connection) == CONNECTION_OK else { throw failure }
      try execute("SET client_min_messages = warning")
    }

    deinit { PQfinish(connection) }

    private var failure: BenchmarkFailure {
      BenchmarkFailure("PostgreSQL: \(String(cString: PQerrorMessage(connection)))")
    }

    /// Runs statements, each for itself.
    ///
    /// - Returns: The first value of the last one; nil if it has none.
    @discardableResult
    func execute(_ statements: String...) throws -> String? {
      var value: String?
      for statement in statements {
        let result = PQexec(connection, statement)
        defer { PQclear(result) }
        guard [PGRES_COMMAND_OK, PGRES_TUPLES_OK].contains(PQresultStatus(result)) else {
          throw failure
        }
        value = PQntuples(result) > 0 ? String(cString: PQgetvalue(result, 0, 0)) : nil
      }
      return value
    }

    func prepare(_ name: String, _ sql: String) throws {
      let result = PQprepare(connection, name, sql, 0, nil)
      defer { PQclear(result) }
      guard PQresultStatus(result) == PGRES_COMMAND_OK else { throw failure }
    }

    /// Runs prepared statements in one round trip.
    func run(_ steps: [Step]) throws {
      if PQpipelineStatus(connection) == PQ_PIPELINE_OFF {
        guard PQenterPipelineMode(connection) == 1 else { throw failure }
      }
      for step in steps { try send(step) }
      guard PQpipelineSync(connection) == 1 else { throw failure }
      for step in steps {
        let status = nextStatus()
        guard [PGRES_COMMAND_OK, PGRES_TUPLES_OK].contains(status) else { throw failure }
        guard PQgetResult(connection) == nil else {
          throw BenchmarkFailure("\(step.name) has two results.")
        }
      }
      guard nextStatus() == PGRES_PIPELINE_SYNC else { throw failure }
    }

    private func nextStatus() -> ExecStatusType {
      let result = PQgetResult(connection)
      defer { PQclear(result) }
      return PQresultStatus(result)
    }

    private func send(_ step: Step) throws {
      let bytes = step.values.flatMap { $0 }.map { CChar(bitPattern: $0) }
      let lengths = step.values.map { Int32($0.count) }
      let formats = Array(repeating: Int32(1), count: lengths.count)
      let isSent = bytes.withUnsafeBufferPointer { bytes in
        var start = bytes.baseAddress
        let places = lengths.map { length -> UnsafePointer<CChar>? in
          defer { start = start.map { $0 + Int(length) } }
          return start
        }
        return PQsendQueryPrepared(
          connection, step.name, Int32(lengths.count), places, lengths, formats, 1)
      }
      guard isSent == 1 else { throw failure }
    }
  }

  extension Int64 {
    /// In PostgreSQL's binary form.
    var postgres: [UInt8] { withUnsafeBytes(of: bigEndian, Array.init) }
  }

  extension BarePostgres {
    /// What a commit waits for, so that no figures of different durability are compared.
    func policy() throws -> [String: String] {
      var policy: [String: String] = [:]
      for name in ["fsync", "synchronous_commit", "wal_sync_method"] {
        policy[name] = try execute("SHOW \(name)")
      }
      return policy
    }
  }
#endif
