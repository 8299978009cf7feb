import Testing

@testable import ModelStore

/// Squashes that include earlier squashes: every file that has had any of them goes on.
@Suite(.tags(.unit)) struct SquashHistoryTests {
  private static let all = (1...3).map { number in
    Migration(
      version: Int64(number), name: "m\(number)", sql: "CREATE TABLE t\(number) (x)",
      reverse: "DROP TABLE t\(number)")
  }

  private static func squash(_ versions: ClosedRange<Int64>, _ name: String) -> Migration {
    Migration(
      version: versions.upperBound, name: name,
      sql: versions.map { "CREATE TABLE t\($0) (x);" }.joined(),
      reverse: versions.map { "DROP TABLE t\($0);" }.joined(), replaces: Array(versions))
  }

  /// Opens a new file once with each list of migrations.
  ///
  /// - Returns: What the ledger has in the end.
  private func ledger(after lists: [Migration]...) throws -> [String] {
    let directory = try TemporaryDirectory()
    let path = directory.file("a.store")
    for list in lists { try Store(at: path, migrations: list).close() }
    let store = try Store(
      at: path, declaring: Declarations(), configuration: StoreConfiguration(),
      onError: { Issue.record($0) })
    defer { store.close() }
    let last = try #require(lists.last)
    #expect(try FileMigrations(of: store, declared: last).drift() == [])
    return try FileMigrations(of: store, declared: last).status().map { status in
      #expect(status.state == .applied, "\(status)")
      let entry = try #require(status.applied)
      return "\(entry) \(entry.kind) \(entry.replaced)"
    }
  }

  @Test func aFileThatRanTheFirstSquashRecordsTheSecond() throws {
    let (base, all) = (Self.squash(1...2, "base"), Self.squash(1...3, "all"))
    #expect(try ledger(after: [base, Self.all[2]]) == ["2 base run [1, 2]", "3 m3 run []"])
    let histories = [[Self.all], [[base, Self.all[2]]], [Self.all, [base, Self.all[2]]]]
    for history in histories {
      let directory = try TemporaryDirectory()
      let path = directory.file("a.store")
      for list in history { try Store(at: path, migrations: list).close() }
      try Store(at: path, migrations: [all]).close()
      let store = try Store(
        at: path, declaring: Declarations(), configuration: StoreConfiguration(),
        onError: { Issue.record($0) })
      defer { store.close() }
      let entries = try FileMigrations(of: store, declared: [all]).status().compactMap(\.applied)
      #expect(entries.map(\.kind) == [.squash])
      #expect(entries.map(\.replaced) == [[1, 2, 3]])
    }
    #expect(try ledger(after: [all]) == ["3 all run [1, 2, 3]"])
  }

  @Test func aSquashWithTheNumberOfAnEarlierOneTakesItsPlace() throws {
    let (later, all) = (Self.squash(2...3, "later"), Self.squash(1...3, "all"))
    let recorded = ["3 all squash [1, 2, 3]"]
    #expect(try ledger(after: Self.all, [Self.all[0], later], [all]) == recorded)
    #expect(try ledger(after: [Self.all[0], later], [all]) == recorded)
  }

  @Test func aSquashWithTheTextOfAnEarlierOneTakesItsPlace() throws {
    let nothing = Migration(version: 1, name: "m1", sql: "")
    let later = Self.squash(2...3, "later")
    let all = Migration(
      version: 3, name: "all", sql: later.sql, reverse: later.reverseSQL, replaces: [1, 2, 3])
    #expect(all.checksum == later.checksum)
    #expect(try ledger(after: [nothing, later], [all]) == ["3 all squash [1, 2, 3]"])
  }

  @Test func aBaselineThatStandsForOthersReplacesTheirEntries() throws {
    let directory = try TemporaryDirectory()
    let path = directory.file("a.store")
    try Store(at: path, migrations: Self.all).close()
    let store = try Store(
      at: path, declaring: Declarations(), configuration: StoreConfiguration(),
      onError: { Issue.record($0) })
    defer { store.close() }
    let migrations = FileMigrations(of: store, declared: [Self.squash(1...3, "all")])
    #expect(try migrations.baseline(3).map(\.replaced) == [[1, 2, 3]])
    #expect(try migrations.status().map(\.state) == [.applied])
  }

  @Test func aSquashThatAFileWouldRefuseIsFound() throws {
    // Nothing says that the file has had 1, which `base` stands for.
    let base = Self.squash(1...2, "base")
    let wrong = Migration(
      version: 3, name: "wrong", sql: Self.squash(1...3, "all").sql, replaces: [2, 3])
    #expect(
      failure { try FileMigrations.differences(of: wrong, from: [base, Self.all[2]]) }?.code
        == .migrationConflict)
    #expect(
      try FileMigrations.differences(of: Self.squash(1...3, "all"), from: [base, Self.all[2]])
        == [])
  }
}
