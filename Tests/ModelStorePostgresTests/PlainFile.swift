#if Postgres
  import CSQLite

  /// What a program without ModelStore does with a file.
  enum PlainFile {
    static func execute(_ sql: String, at path: String) throws {
      var database: OpaquePointer?
      defer { sqlite3_close_v2(database) }
      guard sqlite3_open(path, &database) == SQLITE_OK else {
        throw PostgresServer.Failure("\(path) cannot be opened.")
      }
      sqlite3_busy_timeout(database, 60_000)
      guard sqlite3_exec(database, sql, nil, nil, nil) == SQLITE_OK else {
        throw PostgresServer.Failure("\(sql): \(String(cString: sqlite3_errmsg(database)))")
      }
    }
  }

  /// Random choices that depend only on the seed.
  struct StepGenerator {
    private var state: UInt64

    init(seed: UInt64) { state = seed }

    /// SplitMix64: <https://prng.di.unimi.it/splitmix64.c>.
    mutating func below(_ limit: UInt64) -> UInt64 {
      state &+= 0x9E37_79B9_7F4A_7C15
      var word = state
      word = (word ^ word >> 30) &* 0xBF58_476D_1CE4_E5B9
      word = (word ^ word >> 27) &* 0x94D0_49BB_1331_11EB
      return (word ^ word >> 31) % limit
    }

    mutating func name() -> String { ["a", "A", "é", "ab", "ß", "z"][Int(below(6))] }
  }
#endif
