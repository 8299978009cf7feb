import ModelStore

extension LedgerLaw {
  static let content = [
    LedgerLaw("commits come back in pages, byte for byte") { world in
      let ledger = try world.founded()
      let sizes = [0, 1, 9 << 20, 100_000, 7]
      let commits = try sizes.map { size in
        try ledger.commit((0..<size).map { UInt8(truncatingIfNeeded: $0 &* 31) })
      }
      for limit in [1, 2, 100] {
        var read: [LedgerCommit] = []
        var number = CommitNumber.founding
        while true {
          let page = try ledger.commits(after: number, limit: limit)
          try expect(page.count <= limit, equals: true, "\(page.count) commits of \(limit)")
          guard let last = page.last else { break }
          read += page
          number = last.number
        }
        try expect(read == commits, equals: true, "all commits in pages of \(limit)")
      }
      try expect(try ledger.commits(after: .founding, limit: 0), equals: [], "no commits")
      let all = try ledger.commits(after: .founding, limit: 100)
      try expect(all.count < commits.count, equals: true, "a page is bounded by its bytes")
    },
    LedgerLaw("the hash of each commit is known, and that of the founding") { world in
      let ledger = try world.member()
      _ = try ledger.found(LedgerWorld.founding(41), snapshot: PartsSource([[1]]))
      let turn = try ledger.turn(after: CommitNumber(rawValue: 41), deadline: .seconds(60))
      let commit = turn.head.next()
      try turn.append(commit)
      let hashes = try (40...43).map { try ledger.hash(of: CommitNumber(rawValue: $0)) }
      try expect(
        hashes, equals: [nil, LedgerWorld.founding().hash, commit.hash, nil], "hashes")
      let confirmed = try (40...43).map { try ledger.confirm(CommitNumber(rawValue: $0)) }
      try expect(confirmed.map(\.hash), equals: hashes, "confirmed hashes")
      let head = try ledger.standing()
      try expect(confirmed.map(\.head), equals: Array(repeating: head, count: 4), "heads")
    },
    LedgerLaw("nothing is confirmed of a store that is not founded") { world in
      let confirmed = try world.member().confirm(.founding)
      try expect(confirmed.hash, equals: nil, "hash")
      try expect(confirmed.head, equals: nil, "head")
    },
    LedgerLaw("a newer snapshot replaces the one before at once") { world in
      let ledger = try world.founded()
      let commits = [try ledger.commit(), try ledger.commit()]
      let large = (0..<3).map { part in
        (0..<SnapshotPart.byteCountMax).map { UInt8(truncatingIfNeeded: $0 &* 7 &+ part) }
      }
      let before = try ledger.snapshot()
      try ledger.publish(
        PartsSource(large + [[5]]), at: commits[1].number, hash: commits[1].hash)
      // A reader that began before has the parts of its own snapshot.
      try expect(try before?.rest(), equals: [[7]], "the snapshot before")
      let snapshot = try world.member().snapshot()
      try expect(snapshot?.number, equals: commits[1].number, "the snapshot's number")
      try expect(snapshot?.hash, equals: commits[1].hash, "the snapshot's hash")
      try expect(try snapshot?.rest() == large + [[5]], equals: true, "the snapshot's bytes")
      try expect(try snapshot?.next(), equals: nil, "the end")
      // An older one comes too late, and one of another history never comes.
      try ledger.publish(PartsSource([[3]]), at: commits[0].number, hash: commits[0].hash)
      try expect(LedgerError.mismatch, "a snapshot of another history") {
        try ledger.publish(PartsSource([[3]]), at: commits[1].number, hash: commits[0].hash)
      }
      try expect(try ledger.snapshot()?.number, equals: commits[1].number, "still the newest")
    },
    LedgerLaw("a snapshot that fails halfway changes nothing") { world in
      let ledger = try world.founded()
      let commit = try ledger.commit()
      try expect(LedgerError.failed, "the failure of the source") {
        try ledger.publish(FailingSource(), at: commit.number, hash: commit.hash)
      }
      try expect(try ledger.snapshot()?.rest(), equals: [[7]], "the snapshot before")
      try ledger.publish(PartsSource([]), at: commit.number, hash: commit.hash)
      try expect(try ledger.snapshot()?.number, equals: commit.number, "an empty snapshot")
      try expect(try ledger.snapshot()?.rest(), equals: [], "no parts")
    },
    LedgerLaw("members are listed with what they noted last, the newest note first") { world in
      let ledger = try world.founded()
      let (a, b) = (MemberID.make(), MemberID.make())
      try ledger.note(a, at: CommitNumber(rawValue: 1))
      try world.member().note(b, at: CommitNumber(rawValue: 2))
      try ledger.note(a, at: CommitNumber(rawValue: 3))
      let members = try world.member().members()
      try expect(members.map(\.member), equals: [a, b], "members")
      try expect(members.map(\.number.rawValue), equals: [3, 2], "numbers")
      // After 2026 and before 2100, in microseconds.
      let isTime = members.allSatisfy { (1_767_225_600...4_102_444_800) ~= $0.seenAt / 1_000_000 }
      try expect(isTime, equals: true, "times \(members.map(\.seenAt))")
    },
  ]

  private final class FailingSource: SnapshotSource {
    private var count = 0

    func next() throws -> [UInt8]? {
      count += 1
      guard count < 3 else { throw LedgerError.failed("the file cannot be read") }
      return [1]
    }
  }
}
