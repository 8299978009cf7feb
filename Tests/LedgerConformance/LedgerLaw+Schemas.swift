import ModelStore

extension LedgerLaw {
  static let schemas = [
    LedgerLaw("a change of the schema is one commit, and the ledger has its snapshot") { world in
      let ledger = try world.founded()
      let commits = [try ledger.commit([1]), try ledger.commit([2])]
      try ledger.publish(PartsSource([[3]]), at: commits[1].number, hash: commits[1].hash)
      let turn = try ledger.turn(after: .founding, deadline: .seconds(60))
      try turn.extend()
      let change = turn.head.next([2])
      try turn.append(change, changingTo: schema([[4], [], [5, 6]]))
      let other = try world.member()
      var standing = LedgerWorld.founding(change.number.rawValue, epoch: 9)
      standing.hash = change.hash
      standing.schema = [3, 1]
      standing.durability = try other.standing()?.durability ?? .none
      try expect(try other.standing(), equals: standing, "standing")
      // All stay, so that a member which lacks several changes meets the first one.
      try expect(
        try other.commits(after: .founding, limit: 9), equals: commits + [change], "commits")
      let snapshot = try other.snapshot()
      try expect(snapshot?.number, equals: change.number, "the commit of the snapshot")
      try expect(snapshot?.hash, equals: change.hash, "the hash of the snapshot")
      try expect(try snapshot?.rest().flatMap(\.self), equals: [4, 5, 6], "the snapshot")
      let last = try other.commit([7])
      try ledger.publish(PartsSource([[8]]), at: last.number, hash: last.hash)
      try expect(
        try other.commits(after: .founding, limit: 9), equals: [change, last],
        "commits after the next snapshot")
    },
    LedgerLaw("a change of the schema that fails or is passed changes nothing") { world in
      let ledger = try world.founded()
      let before = try ledger.standing()
      let passed = try ledger.turn(after: .founding, deadline: .seconds(60))
      try passed.extend()
      passed.pass()
      let turn = try ledger.turn(after: .founding, deadline: .seconds(60))
      let change = turn.head.next([2])
      do {
        try turn.append(
          change,
          changingTo: LedgerSchema(epoch: 9, digest: [3, 1], snapshot: BrokenSource()))
        throw Breach(description: "a snapshot that cannot be read is an error")
      } catch is BrokenSource.Failure {}
      let other = try world.member()
      try expect(try other.standing(), equals: before, "standing")
      try expect(try other.snapshot()?.rest(), equals: [[7]], "snapshot")
      try other.commit([1])
    },
    LedgerLaw("the newest snapshot is that of the schema, whoever publishes an earlier one") {
      world in
      let ledger = try world.founded()
      let first = try ledger.commit([1])
      guard case .granted(let publication) = try world.member().snapshotTurn(from: 0) else {
        throw Breach(description: "the member may publish")
      }
      let turn = try ledger.turn(after: .founding, deadline: .seconds(60))
      let change = turn.head.next([2])
      try turn.append(change, changingTo: schema([[4]]))
      try publication.publish(PartsSource([[1]]), at: first.number, hash: first.hash)
      let snapshot = try world.member().snapshot()
      try expect(snapshot?.number, equals: change.number, "the commit of the snapshot")
      try expect(try snapshot?.rest(), equals: [[4]], "the snapshot")
    },
  ]

  private static func schema(_ parts: [[UInt8]]) -> LedgerSchema {
    LedgerSchema(epoch: 9, digest: [3, 1], snapshot: PartsSource(parts))
  }
}

/// A snapshot whose second part cannot be read.
private final class BrokenSource: SnapshotSource {
  struct Failure: Error {}

  private var isFirst = true

  func next() throws -> [UInt8]? {
    guard isFirst else { throw Failure() }
    isFirst = false
    return [1]
  }
}
