/// The migrations that a file has not had, and what happens to each. A plain value.
struct PendingMigrations: Hashable {
  /// In the order of versions.
  private(set) var all: [Migration] = []
  /// The versions of those that are recorded in place of migrations that the file had.
  private(set) var squashes: Set<Int64> = []

  /// Compares the declared migrations of a program with those that a file had.
  ///
  /// A migration that stands for others is pending until the ledger has it. If the file had all the
  /// others, it is recorded in their place. If the file had none, it runs, and the others do not.
  /// If the file had some, the declared rest runs first.
  ///
  /// - Throws: ``StoreError`` with code `newerFormat` if the file had later migrations than
  ///   `declared`; `migrationConflict` if a migration was changed, is missing, or has a too low
  ///   version.
  init(
    of declared: [Migration], after applied: [AppliedMigration], in scope: MigrationLedger.Scope
  ) throws(StoreError) {
    let standing = try StandingMigrations(declared, after: applied)
    try Self.check(applied, against: standing, in: scope)
    let done = Set(applied.map(\.version))
    all = standing.needed.filter { !done.contains($0.version) || standing.isSquash($0) }
    squashes = Set(all.filter(standing.isSquash).map(\.version))
    let first = all.first { !squashes.contains($0.version) }
    if let first, let last = applied.last, first.version < last.version {
      throw StoreError(
        .migrationConflict,
        """
        The migration \(first) comes too late: \(last.version) \(last.name) was applied before it. \
        Give it a version above \(last.version); nothing was changed.
        """)
    }
  }

  /// Leaves out those above `version`.
  mutating func limit(to version: Int64) {
    all.removeAll { $0.version > version }
  }

  /// Leaves out the first one, which the file has had by now.
  mutating func removeFirst() { all.removeFirst() }

  private static func check(
    _ applied: [AppliedMigration], against standing: StandingMigrations,
    in scope: MigrationLedger.Scope
  ) throws(StoreError) {
    let newest = standing.declared.last
    for entry in applied where !standing.isReplaced(entry) {
      guard let migration = standing.declared.first(where: { $0.version == entry.version }) else {
        throw entry.version > newest?.version ?? 0
          ? scope.newer(applied.last ?? entry, than: newest) : missing(entry)
      }
      guard migration.checksum == entry.checksum else { throw changed(migration, from: entry) }
      // Of a migration in Swift, the name is all that can be compared.
      if migration.isSwift, !migration.name.isExactly(entry.name) {
        throw renamed(migration, from: entry)
      }
    }
  }
}

/// Which declared migrations stand for others in a file.
struct StandingMigrations {
  /// In the order of versions.
  let declared: [Migration]
  /// The versions that a declared or an applied migration stands for, and which one it is. The file
  /// neither has nor needs them.
  private(set) var stand: [Int64: Int64] = [:]
  /// The versions of migrations that will be recorded in place of applied ones.
  private var squashes: Set<Int64> = []

  /// - Throws: ``StoreError`` with code `migrationConflict` if the declarations contradict each
  ///   other, or if the file lacks a part of what one of them replaces.
  init(_ migrations: [Migration], after applied: [AppliedMigration]) throws(StoreError) {
    declared = try Self.ordered(migrations)
    let had = Set(applied.flatMap { [$0.version] + $0.replaced })
    for migration in declared where !migration.replaces.isEmpty {
      let entry = applied.first { $0.version == migration.version }
      // With the number of the last one that it replaces, the entry may be of that one.
      let isOld = entry.map { Self.isPart($0, of: migration, after: applied) } ?? true
      let done = migration.replaces.filter(had.contains)
      guard isOld, !done.isEmpty else {
        for version in migration.replaces where version != migration.version {
          stand[version] = migration.version
        }
        continue
      }
      for version in migration.replaces where !had.contains(version) {
        guard declared.contains(where: { $0.version == version && $0 != migration }) else {
          throw Self.incomplete(migration, lacking: version, having: done)
        }
      }
      squashes.insert(migration.version)
    }
  }

  /// Whether `entry`, with the number of `migration`, is of one that `migration` replaces: the last
  /// of them, or an earlier squash that stands for fewer of them.
  private static func isPart(
    _ entry: AppliedMigration, of migration: Migration, after applied: [AppliedMigration]
  ) -> Bool {
    let replaced = Set(migration.replaces)
    guard replaced.contains(entry.version),
      Set(entry.replaced).isStrictSubset(of: replaced)
    else { return false }
    // Without the others, the same text is the squash itself, recorded without its list.
    return entry.checksum != migration.checksum
      || applied.contains { $0.version != entry.version && replaced.contains($0.version) }
  }

  /// Those that the file needs.
  var needed: [Migration] { declared.filter { stand[$0.version] == nil } }

  /// Whether the migration is recorded in place of applied ones.
  func isSquash(_ migration: Migration) -> Bool { squashes.contains(migration.version) }

  /// Whether another migration will be recorded in place of `entry`.
  func isReplaced(_ entry: AppliedMigration) -> Bool {
    declared.contains { isSquash($0) && $0.replaces.contains(entry.version) }
  }

  private static func ordered(_ migrations: [Migration]) throws(StoreError) -> [Migration] {
    let ordered = migrations.sorted { $0.version < $1.version }
    for migration in ordered where migration.version < 1 {
      throw StoreError(
        .migrationConflict, "The migration \(migration) must have a version above 0.")
    }
    for (first, second) in zip(ordered, ordered.dropFirst()) where first.version == second.version {
      throw StoreError(
        .migrationConflict,
        "Two migrations have the version \(first.version): \(first.name) and \(second.name).")
    }
    for migration in ordered {
      guard let first = migration.replaces.first, let last = migration.replaces.last else {
        continue
      }
      guard last <= migration.version else {
        throw StoreError(
          .migrationConflict,
          "The migration \(migration) replaces \(last), which comes after it. Give it a version of at least \(last)."
        )
      }
      let between = ordered.first { other in
        other != migration && (first..<migration.version).contains(other.version)
          && !migration.replaces.contains(other.version)
      }
      if let between {
        throw StoreError(
          .migrationConflict,
          "The migration \(migration) replaces migrations before and after \(between), but not that one. Replace it, too."
        )
      }
    }
    return ordered
  }

  private static func incomplete(
    _ migration: Migration, lacking version: Int64, having done: [Int64]
  ) -> StoreError {
    StoreError(
      .migrationConflict,
      """
      The migration \(migration) replaces others, of which the file has had only \
      \(done.map(String.init).joined(separator: ", ")), and \(version) is missing here. Declare the \
      replaced migrations, too; nothing was changed.
      """)
  }
}

extension PendingMigrations {
  private static func missing(_ entry: AppliedMigration) -> StoreError {
    StoreError(
      .migrationConflict,
      """
      The file has had the migration \(entry.version) \(entry.name), which is missing here. \
      Restore it; nothing was changed.
      """)
  }

  private static func renamed(_ migration: Migration, from entry: AppliedMigration) -> StoreError {
    StoreError(
      .migrationConflict,
      """
      The migration \(migration) was called \(entry.name) when it was applied. Restore its name \
      and write a new migration; nothing was changed.
      """)
  }

  private static func changed(_ migration: Migration, from entry: AppliedMigration) -> StoreError {
    let wasSwift = entry.checksum.isEmpty
    guard !wasSwift, !migration.isSwift else {
      return StoreError(
        .migrationConflict,
        """
        The migration \(migration) was in \(wasSwift ? "Swift" : "SQL") when it was applied and \
        is in \(wasSwift ? "SQL" : "Swift") now. Restore it and write a new migration; nothing \
        was changed.
        """)
    }
    return StoreError(
      .migrationConflict,
      """
      The migration \(migration) was changed after it was applied \
      (checksum \(entry.checksum) then, \
      \(migration.checksum) now). Restore its text and write a new migration; nothing was changed.
      """)
  }
}

extension MigrationLedger.Scope {
  fileprivate func newer(_ last: AppliedMigration, than newest: Migration?) -> StoreError {
    let reader = self == .store ? "this ModelStore" : "this program"
    let known = newest.map { "only those up to \($0.version) (\($0.name))" } ?? "none"
    return StoreError(
      .newerFormat,
      """
      The file has migrations up to \(last.version) (\(last.name)); \(reader) knows \(known). \
      Update this program; nothing was changed.
      """)
  }
}
