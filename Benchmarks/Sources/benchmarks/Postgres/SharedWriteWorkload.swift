#if Postgres
  import ModelStore

  /// W22: a transaction of one update on a member of a shared store, beside what PostgreSQL alone
  /// does in two round trips. The member adds the write to its own file to it.
  struct SharedWriteWorkload {
    /// The records in the table.
    let count: Int
    /// The maximum number of transactions in one run.
    let writeCount = 2_000

    var workload: Workload {
      Workload(
        id: "W22", title: "one-row write in a shared store, two round trips to PostgreSQL",
        unit: "write", contenders: { [appending, updating, member, alone] })
    }

    /// Locks a head, reads what follows, and appends a record of the size of a member's.
    private var appending: Contender {
      Contender(library: .postgres, name: "libpq: lock, append") { directory in
        let server = try BareLedger(recordSize: recordSize(in: directory))
        return Session(policy: server.policy) {
          Measurement(try Stopwatch.each(limit: writeCount) { _ in try server.append() })
        }
      }
    }

    /// As pgbench does: one statement, one round trip.
    private var updating: Contender {
      Contender(library: .postgres, name: "libpq: UPDATE of one row") { _ in
        let connection = try BarePostgres(BarePostgres.address())
        let policy = try connection.policy()
        try connection.execute(
          "DROP TABLE IF EXISTS bench_track",
          "CREATE TABLE bench_track (id bigint PRIMARY KEY, milliseconds bigint NOT NULL)",
          "INSERT INTO bench_track SELECT i, i FROM generate_series(1, \(count)) i")
        try connection.prepare(
          "update", "UPDATE bench_track SET milliseconds = $2 WHERE id = $1")
        var rows = RowSource(count: count)
        return Session(policy: policy) {
          Measurement(
            try Stopwatch.each(limit: writeCount) { _ in
              let row = rows.next()
              try connection.run([("update", [row.id.postgres, row.milliseconds.postgres])])
            })
        }
      }
    }

    private var member: Contender {
      Contender(library: .modelStore, name: "ModelStore, a member") { directory in
        let fixture = try SharedFixture(in: directory)
        let store = try fixture.member(0, tracks: Track.generate(count))
        return session(store, fixture.policy)
      }
    }

    private var alone: Contender {
      Contender(library: .modelStore, name: "ModelStore, not shared (NORMAL)") { directory in
        let policy = try BarePostgres(BarePostgres.address()).policy()
        let store = try Store.createTracks(
          Track.generate(count), at: directory.file("alone.sqlite"), synchronous: .normal,
          journal: .full)
        return session(store, policy)
      }
    }

    private func session(_ store: Store, _ policy: [String: String]) -> Session {
      var rows = RowSource(count: count)
      return Session(policy: policy) {
        try store.checkpoint()
        return Measurement(
          try Stopwatch.each(limit: writeCount) { _ in
            let track = StoredTrack(rows.next())
            try store.write { tx in try tx.update(track) }
          })
      }
    }

    /// How large a record of this workload is.
    private func recordSize(in directory: TemporaryDirectory) throws -> Int {
      let fixture = try SharedFixture(in: directory)
      let store = try fixture.member(0, tracks: Track.generate(count))
      defer { store.close() }
      var rows = RowSource(count: count)
      for _ in 0..<10 { try store.write { tx in try tx.update(StoredTrack(rows.next())) } }
      return try fixture.recordSize()
    }
  }

  /// The statements of a ledger, in the same two round trips, without a store.
  final class BareLedger {
    let policy: [String: String]
    private let connection: BarePostgres
    private let record: [UInt8]
    private var number: Int64 = 0

    init(recordSize: Int) throws {
      connection = try BarePostgres(BarePostgres.address())
      policy = try connection.policy()
      record = (0..<recordSize).map { _ in .random(in: 0 ... .max) }
      try connection.execute(
        "DROP TABLE IF EXISTS bench_heads, bench_commits",
        """
        CREATE TABLE bench_heads (store bigint PRIMARY KEY, number bigint NOT NULL)
        WITH (fillfactor = 10)
        """,
        """
        CREATE TABLE bench_commits (
          store bigint, number bigint, tx bigint, record bytea NOT NULL,
          PRIMARY KEY (store, number), UNIQUE (store, tx))
        """,
        "INSERT INTO bench_heads VALUES (1, 0)")
      try connection.prepare("begin", "BEGIN ISOLATION LEVEL READ COMMITTED")
      try connection.prepare(
        "lock", "SELECT number FROM bench_heads WHERE store = 1 FOR UPDATE")
      try connection.prepare(
        "missed", "SELECT number, tx, record FROM bench_commits WHERE store = 1 AND number > $1")
      try connection.prepare("append", "INSERT INTO bench_commits VALUES (1, $1, $2, $3)")
      try connection.prepare(
        "advance", "UPDATE bench_heads SET number = $1 WHERE store = 1 AND number = $2")
      try connection.prepare("commit", "COMMIT")
    }

    func append() throws {
      try connection.run([("begin", []), ("lock", []), ("missed", [number.postgres])])
      let next = number + 1
      try connection.run([
        ("append", [next.postgres, next.postgres, record]),
        ("advance", [next.postgres, number.postgres]), ("commit", []),
      ])
      number = next
    }
  }
#endif
