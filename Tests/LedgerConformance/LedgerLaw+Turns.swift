import ModelStore
import Synchronization

extension LedgerLaw {
  static let turns = [
    LedgerLaw("of members that found a store at the same time, one succeeds") { world in
      let founders = Mutex<[Int]>([])
      try LedgerWorld.onThreads(4) { thread in
        let standing = LedgerWorld.founding(epoch: Int64(thread + 1))
        let parts = PartsSource([[UInt8(thread)], [9]])
        if try world.member().found(standing, snapshot: parts) {
          founders.withLock { $0.append(thread) }
        }
      }
      let founder = founders.withLock { $0 }
      try expect(founder.count, equals: 1, "founders")
      var standing = LedgerWorld.founding(epoch: Int64(founder[0] + 1))
      let ledger = try world.member()
      let found = try ledger.standing()
      standing.durability = found?.durability ?? .none
      try expect(found, equals: standing, "standing")
      try expect(
        try ledger.snapshot()?.rest(), equals: [[UInt8(founder[0])], [9]], "snapshot")
    },
    LedgerLaw("numbers are dense and no member misses a commit") { world in
      _ = try world.founded()
      let count = world.commitCount
      try LedgerWorld.onThreads(8) { thread in
        let ledger = try world.member()
        var known = LedgerWorld.founding()
        for round in 0..<count {
          let turn = try turn(of: ledger, after: &known)
          let commit = known.next([UInt8(thread), UInt8(round % 256)])
          try turn.append(commit)
          known.number = commit.number
          known.hash = commit.hash
        }
      }
      var known = LedgerWorld.founding()
      try turn(of: try world.member(), after: &known).pass()
      try expect(known.number.rawValue, equals: Int64(8 * count), "the last number")
    },
    LedgerLaw("a member that waits for its turn then has the commit of the one before") { world in
      let first = try world.founded()
      for round in 0..<20 {
        let turn = try first.turn(after: .founding, deadline: .seconds(60))
        let commit = turn.head.next([UInt8(round)])
        let before = turn.head.number
        try withWaitingMember(of: world, after: before, missing: [commit]) {
          try turn.append(commit)
        }
      }
    },
    LedgerLaw("a turn that is passed or released changes nothing") { world in
      let ledger = try world.founded()
      let commit = try ledger.commit([1])
      for _ in 0..<3 {
        let turn = try ledger.turn(after: .founding, deadline: .seconds(60))
        try expect(turn.missed, equals: [commit], "missed")
        turn.pass()
        _ = try world.member().turn(after: .founding, deadline: .seconds(60))
      }
      try expect(try ledger.commits(after: .founding, limit: 9), equals: [commit], "commits")
      try expect(try ledger.standing()?.number, equals: commit.number, "head")
    },
    LedgerLaw("a member waits no longer than its deadline") { world in
      let first = try world.founded()
      for other in [try world.member(), first] {
        let turn = try first.turn(after: .founding, deadline: .seconds(60))
        let start = ContinuousClock.now
        try expect(LedgerError.timedOut, "turn of another member") {
          try other.turn(after: .founding, deadline: .milliseconds(50))
        }
        try expect(LedgerError.timedOut, "resolve of another member") {
          try other.resolve(.make(first: nil), deadline: .milliseconds(50))
        }
        let waited = start.duration(to: .now)
        try expect(waited >= .milliseconds(100), equals: true, "waited \(waited) of 100 ms")
        try expect(waited < .seconds(20), equals: true, "waited only \(waited)")
        try turn.append(turn.head.next())
        try other.commit()
      }
    },
  ]

  /// Takes a turn and checks that it has exactly the commits after `known`, which it moves on.
  private static func turn(
    of ledger: any CommitLedger, after known: inout LedgerStanding
  ) throws -> any LedgerTurn {
    let turn = try ledger.turn(after: known.number, deadline: .seconds(600))
    for commit in turn.missed {
      try expect(commit.number, equals: known.number.next, "the next commit")
      try expect(Array(commit.record.prefix(32)), equals: known.hash.bytes, "the hash before")
      try expect(commit.hash, equals: CommitHash(of: commit.record), "the hash")
      known.number = commit.number
      known.hash = commit.hash
    }
    try expect(turn.head.number, equals: known.number, "the head")
    try expect(turn.head.hash, equals: known.hash, "the hash of the head")
    return turn
  }

  /// Ends a turn by `body` while another member waits for it.
  private static func withWaitingMember(
    of world: LedgerWorld, after number: CommitNumber, missing commits: [LedgerCommit],
    _ body: () throws -> Void
  ) throws {
    let other = try world.member()
    let result = Mutex<[LedgerCommit]?>(nil)
    let thread = WaitingThread {
      let turn = try other.turn(after: number, deadline: .seconds(60))
      result.withLock { $0 = turn.missed }
      turn.pass()
    }
    try body()
    try thread.join()
    // The member may have begun to wait after the turn had ended; it finds the same.
    try expect(result.withLock { $0 }, equals: commits, "missed")
  }
}
