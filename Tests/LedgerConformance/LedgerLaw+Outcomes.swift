import Dispatch
import ModelStore
import Synchronization

extension LedgerLaw {
  static let outcomes = [
    LedgerLaw("a store that no member founded has nothing, and refuses turns") { world in
      let ledger = try world.member()
      try expect(try ledger.standing(), equals: nil, "standing")
      try expect(try ledger.snapshot() == nil, equals: true, "no snapshot")
      try expect(try ledger.commits(after: .founding, limit: 9), equals: [], "commits")
      try expect(try ledger.hash(of: .founding), equals: nil, "hash")
      try expect(try ledger.members(), equals: [], "members")
      try expect(LedgerError.mismatch, "turn") {
        try ledger.turn(after: .founding, deadline: .seconds(60))
      }
      try expect(LedgerError.mismatch, "resolve") {
        try ledger.resolve(.make(first: nil), deadline: .seconds(60))
      }
      try expect(LedgerError.mismatch, "note") { try ledger.note(.make(), at: .founding) }
      try expect(LedgerError.mismatch, "publish") {
        try ledger.publish(PartsSource([[1]]), at: .founding, hash: CommitHash(of: [1]))
      }
    },
    LedgerLaw("a commit that does not follow the head is refused, and the turn ends") { world in
      let ledger = try world.founded()
      let first = try ledger.commit()
      for offset in [Int64(-1), 0, 2] {
        let turn = try ledger.turn(after: .founding, deadline: .seconds(60))
        let number = CommitNumber(rawValue: turn.head.number.rawValue + offset)
        let wrong = LedgerCommit(
          number: number, transaction: .make(first: nil), hash: first.hash, record: [])
        try expect(LedgerError.mismatch, "commit \(offset) after the head") {
          try turn.append(wrong)
        }
      }
      try expect(try ledger.commits(after: .founding, limit: 9), equals: [first], "commits")
      try ledger.commit()
    },
    LedgerLaw("a ledger has each transaction once") { world in
      let ledger = try world.founded()
      let commit = try ledger.commit([1])
      try expect(LedgerError.mismatch, "the same transaction again") {
        try world.member().commit([2], transaction: commit.transaction)
      }
      try expect(try ledger.commits(after: .founding, limit: 9), equals: [commit], "commits")
      try expect(try ledger.commit().number.rawValue, equals: 2, "the next number")
    },
    LedgerLaw("a transaction is found, or it never became a commit") { world in
      let ledger = try world.founded()
      let commit = try ledger.commit([1])
      try ledger.commit([2])
      let other = try world.member()
      try expect(
        try other.resolve(commit.transaction, deadline: .seconds(60)), equals: commit.number,
        "its number")
      try expect(
        try other.resolve(.make(first: nil), deadline: .seconds(60)), equals: nil, "no number")
      let turn = try ledger.turn(after: .founding, deadline: .seconds(60))
      let coming = turn.head.next()
      let waiting = WaitingThread {
        try expect(
          try other.resolve(coming.transaction, deadline: .seconds(60)), equals: coming.number,
          "the number of a commit on its way")
      }
      try turn.append(coming)
      // It may have asked after the commit, too; with the lock it cannot ask too early.
      try waiting.join()
    },
    LedgerLaw("a bell rings after each commit, and may be ended twice") { world in
      let ledger = try world.founded()
      let rung = DispatchSemaphore(value: 0)
      let newest = Mutex(CommitNumber.founding)
      let bell = try world.member().listen { number in
        newest.withLock { newest in newest = max(newest, number ?? .founding) }
        rung.signal()
      }
      // A ledger notifies others only while it listens.
      let own = try ledger.listen { _ in }
      for _ in 0..<5 {
        let commit = try ledger.commit()
        // A ring may come for a commit before, so at least one comes for both.
        repeat {
          try expect(rung.wait(timeout: .now() + 60), equals: .success, "a ring")
        } while newest.withLock { $0 } < commit.number
        try expect(newest.withLock { $0 }, equals: commit.number, "the number of a ring")
      }
      bell.end()
      bell.end()
      try ledger.commit()
      own.end()
    },
  ]
}
