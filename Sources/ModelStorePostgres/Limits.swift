#if Postgres
  /// How long a ledger waits.
  struct Limits: Sendable {
    /// For each host of the connection string.
    var connecting = Duration.seconds(5)
    /// For the answer to a statement that waits for no other member. Then the connection is given
    /// up: the server was stopped, or the network lost it.
    var statement = Duration.seconds(15)
    /// For the standby, when a connection commits a message. Then the connection is given up.
    var standby = Duration.seconds(5)
    /// For the lock of the head, at least, if a turn is taken again.
    var turnAgain = Duration.seconds(1)
    /// For more of an answer, after a part of it.
    var answer = Duration.seconds(5)
    /// For a statement whose answer no program waits for any more. Then PostgreSQL gives it up.
    var work = Duration.seconds(600)
    /// For the next statement of a turn. Then PostgreSQL ends the turn: the member stands still.
    var turn = Duration.seconds(60)
    /// For another member's transfer of a snapshot, for reading one, and for the changes of the
    /// schema in a turn before its snapshot is sent.
    var snapshot = Duration.seconds(600)
    /// Between two attempts to listen again.
    var pause = Duration.milliseconds(100)
    var pauseMax = Duration.seconds(5)

    /// The most bytes of a record. PostgreSQL's messages and values have less than 1 GiB, and both
    /// sides need several times the memory of a record.
    static let recordByteCountMax = 512 << 20
  }

  extension Duration {
    /// For settings of PostgreSQL, where 0 means endless: at least 1, at most a day, rounded up.
    var milliseconds: Int {
      Int(max(1, (min(self, .seconds(86_400)) / .milliseconds(1)).rounded(.up)))
    }
  }
#endif
