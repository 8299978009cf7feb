import ModelStore

extension LedgerLaw {
  static let snapshots = [
    LedgerLaw("a snapshot is due when the records after the newest one have enough bytes") {
      world in
      let ledger = try world.founded()
      try expect(try answer(of: ledger, from: 1), equals: "not due after 0 bytes", "after the founding")
      // A record begins with the hash of the one before, which has 32 bytes.
      let commits = [try ledger.commit([1, 2, 3]), try ledger.commit([4])]
      try expect(try answer(of: ledger, from: 69), equals: "not due after 68 bytes", "after two commits")
      try ledger.publish(PartsSource([[1]]), at: commits[0].number, hash: commits[0].hash)
      try expect(try answer(of: ledger, from: 34), equals: "not due after 33 bytes", "after the snapshot")
      guard case .granted(let turn) = try world.member().snapshotTurn(from: 33) else {
        throw Breach(description: "a snapshot that is due is granted")
      }
      turn.pass()
    },
    LedgerLaw("one member at a time publishes a snapshot, while others write and read") { world in
      let ledger = try world.founded()
      let first = try ledger.commit()
      guard case .granted(let turn) = try ledger.snapshotTurn(from: 0) else {
        throw Breach(description: "the first member may publish")
      }
      let other = try world.member()
      try expect(try other.snapshotTurn(from: 0).word, equals: "taken", "another member")
      let second = try other.commit()
      try expect(try other.snapshot()?.rest(), equals: [[7]], "the snapshot before")
      try turn.publish(PartsSource([[1]]), at: first.number, hash: first.hash)
      try expect(try other.snapshot()?.rest(), equals: [[1]], "the new snapshot")
      guard case .granted(let next) = try other.snapshotTurn(from: 0) else {
        throw Breach(description: "the other member may publish afterwards")
      }
      try next.publish(PartsSource([[2]]), at: second.number, hash: second.hash)
      guard case .granted(let last) = try ledger.snapshotTurn(from: 0) else {
        throw Breach(description: "the first member may publish again")
      }
      last.pass()
      try ledger.publish(PartsSource([[3]]), at: second.number, hash: second.hash)
      try expect(try ledger.snapshot()?.rest(), equals: [[2]], "one snapshot for each commit")
    },
    LedgerLaw("a snapshot that fails gives the right to publish back") { world in
      let ledger = try world.founded()
      let commit = try ledger.commit()
      guard case .granted(let turn) = try ledger.snapshotTurn(from: 0) else {
        throw Breach(description: "the member may publish")
      }
      try expect(LedgerError.mismatch, "another history") {
        try turn.publish(PartsSource([[1]]), at: commit.number, hash: CommitHash(of: [1]))
      }
      try world.member().publish(PartsSource([[2]]), at: commit.number, hash: commit.hash)
    },
    LedgerLaw("a new snapshot removes the commits before the earlier snapshot") { world in
      let ledger = try world.founded()
      let commits = try (0..<6).map { try ledger.commit([UInt8($0)]) }
      func publish(_ place: Int) throws {
        try world.member().publish(
          PartsSource([[UInt8(place)]]), at: commits[place].number, hash: commits[place].hash)
      }
      let reader = try ledger.snapshot()
      try publish(1)
      try expect(try ledger.commits(after: .founding, limit: 9), equals: commits, "all commits")
      try publish(3)
      try expect(
        try ledger.commits(after: .founding, limit: 9), equals: Array(commits[1...]),
        "the commits from the earlier snapshot on")
      let turn = try world.member().turn(after: .founding, deadline: .seconds(60))
      try expect(turn.missed, equals: Array(commits[1...]), "missed")
      turn.pass()
      let hashes = try (0...3).map { try ledger.hash(of: CommitNumber(rawValue: $0)) }
      try expect(
        hashes, equals: [LedgerWorld.founding().hash, nil, commits[1].hash, commits[2].hash],
        "hashes")
      try expect(
        try ledger.resolve(commits[0].transaction, deadline: .seconds(60)), equals: nil,
        "a removed transaction")
      try publish(5)
      try expect(
        try ledger.commits(after: commits[3].number, limit: 9), equals: Array(commits[4...]),
        "what a member of the earlier snapshot misses")
      try expect(
        try ledger.commits(after: commits[5].number, limit: 9), equals: [], "nothing follows")
      // A reader that began long before has its own snapshot.
      try expect(try reader?.rest(), equals: [[7]], "the first snapshot")
      try expect(try ledger.commit().number.rawValue, equals: 7, "the next number")
    },
  ]

  private static func answer(
    of ledger: any CommitLedger, from byteCount: Int64
  ) throws -> String {
    try ledger.snapshotTurn(from: byteCount).word
  }
}
