#if Postgres
  internal import CLibPQ
  internal import ModelStore

  /// The rows of a statement, in PostgreSQL's binary form.
  final class PostgresResult {
    private let handle: OpaquePointer

    /// - Parameter handle: A `PGresult`, which it frees.
    init(_ handle: OpaquePointer) { self.handle = handle }

    deinit { PQclear(handle) }

    var status: ExecStatusType { PQresultStatus(handle) }

    var rowCount: Int { Int(PQntuples(handle)) }

    var columnCount: Int { Int(PQnfields(handle)) }

    /// The rows that the statement wrote.
    var changedCount: Int { Int(String(cString: PQcmdTuples(handle))) ?? 0 }

    /// What PostgreSQL did, for example `COMMIT`. It answers `ROLLBACK` to a COMMIT that failed.
    var tag: String { String(cString: PQcmdStatus(handle)) }

    /// Why it failed; nil for a result that is not an error.
    var failure: PostgresFailure? {
      guard status == PGRES_FATAL_ERROR else { return nil }
      let severity = field(clibpq_field_severity)
      // The client library's own failures have no fields.
      let text = field(clibpq_field_message) ?? String(cString: PQresultErrorMessage(handle))
      return PostgresFailure(
        state: field(clibpq_field_sqlstate), text: text.firstLine, isFatal: severity != "ERROR")
    }

    private func field(_ code: Int32) -> String? {
      PQresultErrorField(handle, code).map { String(cString: $0) }
    }

    /// Whether a warning says that COMMIT did not wait for the standby.
    static func isUnreplicated(_ handle: OpaquePointer?) -> Bool {
      PQresultErrorField(handle, clibpq_field_sqlstate).map { String(cString: $0) } == "01000"
    }

    private func withValue<Result>(
      _ row: Int, _ column: Int, _ body: (UnsafeRawBufferPointer) -> Result
    ) -> Result {
      let (row, column) = (Int32(row), Int32(column))
      let count = Int(PQgetlength(handle, row, column))
      return body(UnsafeRawBufferPointer(start: PQgetvalue(handle, row, column), count: count))
    }

    func bytes(_ row: Int, _ column: Int) -> [UInt8] { withValue(row, column) { Array($0) } }

    func text(_ row: Int, _ column: Int) -> String {
      withValue(row, column) { String(decoding: $0, as: UTF8.self) }
    }

    /// An integer of any size.
    func integer(_ row: Int, _ column: Int) -> Int64 {
      withValue(row, column) { bytes in
        let isNegative = bytes.first.map { $0 >= 0x80 } ?? false
        return bytes.reduce(isNegative ? -1 : 0) { $0 << 8 | Int64($1) }
      }
    }

    func number(_ row: Int, _ column: Int) -> CommitNumber {
      CommitNumber(rawValue: integer(row, column))
    }

    func hash(_ row: Int, _ column: Int) -> CommitHash { CommitHash(bytes: bytes(row, column)) }
  }

  extension String {
    /// Without the line break and what follows it.
    var firstLine: String { String(prefix { !$0.isNewline }) }
  }
#endif
