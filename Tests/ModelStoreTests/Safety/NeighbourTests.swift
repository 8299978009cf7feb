import Foundation
import Glibc
import Testing

@testable import ModelStore

/// Other users on the same machine, who can write the directory of a database. Needs root.
@Suite(.tags(.process), .enabled(if: getuid() == 0, "Only root can give files to other users."))
struct NeighbourTests {
  private static let nobody: uid_t = 65_534
  private let directory: TemporaryDirectory

  init() throws {
    directory = try TemporaryDirectory()
    #expect(chmod(directory.path, 0o755) == 0)
  }

  private func open(_ path: String, configure: (inout StoreConfiguration) -> Void = { _ in })
    throws -> Store
  {
    var configuration = StoreConfiguration()
    configuration.durability = .normal
    configure(&configuration)
    return try Store(at: path, models: Artist.self, configuration: configuration) { _ in }
  }

  /// A store with one record in a new directory of root with `mode`.
  private func makeStore(in mode: mode_t) throws -> String {
    let place = directory.file("place")
    #expect(mkdir(place, 0o700) == 0 && chmod(place, mode) == 0)
    let path = place + "/app.db"
    let store = try open(path)
    try store.write { tx in try tx.insert(Artist(id: 1, name: "true")) }
    store.close()
    return path
  }

  /// The log that another user's copy of the database would have: SQLite would apply it.
  private func plantedLog(for path: String) throws -> [UInt8] {
    let copy = directory.file("copy.db")
    try write(try bytes(of: path), to: copy)
    let attacker = try PlainDatabase(copy)
    try attacker.execute("PRAGMA wal_autocheckpoint = 0; UPDATE Artist SET name = 'false'")
    let log = try bytes(of: copy + "-wal")
    return log
  }

  /// A log of another user, in a sticky directory that anyone may write, showed that user's rows,
  /// and the next write destroyed the database.
  @Test(
    arguments: ["-wal", "-journal", "-shm"],
    [StoreConfiguration.Access.readWrite, .readOnly])
  func aFileOfAnotherUserBesideTheDatabaseIsRefused(
    suffix: String, access: StoreConfiguration.Access
  ) throws {
    let path = try makeStore(in: 0o1777)
    let content = try bytes(of: path)
    let planted = try plantedLog(for: path)
    try write(planted, to: path + suffix)
    #expect(chmod(path + suffix, 0o666) == 0)
    #expect(chown(path + suffix, Self.nobody, Self.nobody) == 0)
    let real = realPath(path) + suffix
    #expect(
      failure { try open(path) { $0.access = access } }
        == StoreError(
          .unsafeLocation,
          "\(real) belongs to nobody (user 65534), not to the database's owner, root or this user. SQLite would use its contents as a part of the database. Find out which program created it. To open the database without it, run mv \(real) \(real).old. If users of a group share the database, open it as shared (StoreConfiguration.sharing = .group, storecli --shared-with-group)."
        ))
    #expect(try bytes(of: path) == content)
    #expect(try bytes(of: path + suffix) == planted)
    #expect(rename(path + suffix, path + suffix + ".old") == 0)
    #expect(
      try open(path) { $0.access = access }.fetch(Artist.all) == [Artist(id: 1, name: "true")])
  }

  @Test func aLogThatMoreUsersCanWriteThanTheDatabaseIsRefused() throws {
    let path = try makeStore(in: 0o755)
    try write([], to: path + "-wal")
    #expect(chmod(path + "-wal", 0o666) == 0)
    #expect(code { try open(path) { $0.access = .readOnly } } == .unsafeLocation)
    #expect(chmod(path + "-wal", 0o600) == 0)
    #expect(code { try open(path) } == nil)
  }

  /// Where others can create files, the store creates them first, with the database's permissions.
  @Test func theFilesBesideTheDatabaseExistBeforeOthersCanCreateThem() throws {
    let path = try makeStore(in: 0o1777)
    #expect(chmod(path, 0o640) == 0 && chown(path, Self.nobody, Self.nobody) == 0)
    #expect(chown(path, 0, 0) == 0)
    // The empty journal that keeps others out stays behind.
    #expect(unlink(path + "-journal") == 0)
    let file = try DatabaseFile(path: path)
    #expect(file.doubt == nil)
    #expect(DatabaseFile.companionSuffixes.map { mode(of: path + $0) } == ["640", "640", "640"])
    // Another user cannot replace them.
    #expect(
      run(
        "/usr/bin/setpriv", "--reuid", "65534", "--regid", "65534", "--clear-groups", "/bin/mv",
        path + "-wal", path + "-other") != 0)
    let store = try open(path)
    try store.write { tx in try tx.insert(Artist(id: 2, name: "b")) }
    store.close()
    #expect(try open(path).fetch(Artist.all).count == 2)
  }

  @Test func aPlaceWhereOthersReplaceFilesIsReadWithAWarning() throws {
    let path = try makeStore(in: 0o755)
    #expect(chmod(directory.file("place"), 0o777) == 0)
    let heard = Recorder<StoreError>()
    var configuration = StoreConfiguration()
    configuration.access = .readOnly
    let store = try Store(at: path, models: Artist.self, configuration: configuration) {
      heard.add($0)
    }
    #expect(try store.fetch(Artist.all) == [Artist(id: 1, name: "true")])
    let place = realPath(directory.file("place"))
    let warning = StoreError(
      .unsafeLocation,
      "Any user can replace \(place)/app.db, because any user can write \(place). It can only be read. Run chmod o-w \(place), or chmod +t \(place) so that users replace only their own files."
    )
    #expect(heard.events == [warning])
    #expect(failure { try open(path) } == warning)
  }

  @Test func aDatabaseThatAnotherUserPutIntoASharedPlaceIsOnlyRead() throws {
    let path = try makeStore(in: 0o1777)
    #expect(chown(path, Self.nobody, Self.nobody) == 0)
    #expect(code { try open(path) } == .unsafeLocation)
    #expect(
      try open(path) { $0.access = .readOnly }.fetch(Artist.all) == [Artist(id: 1, name: "true")])
  }

  @Test func aLinkOfAnotherUserInASharedPlaceIsNotFollowed() throws {
    let path = try makeStore(in: 0o755)
    let shared = directory.file("shared")
    #expect(mkdir(shared, 0o700) == 0 && chmod(shared, 0o1777) == 0)
    let link = shared + "/link.db"
    #expect(symlink(path, link) == 0)
    #expect(code { try open(link) } == nil)
    #expect(lchown(link, Self.nobody, Self.nobody) == 0)
    #expect(code { try open(link) } == .unsafeLocation)
    #expect(unlink(link) == 0)
    #expect(symlink(directory.file("place"), shared + "/way") == 0)
    #expect(lchown(shared + "/way", Self.nobody, Self.nobody) == 0)
    #expect(code { try open(shared + "/way/app.db") } == .unsafeLocation)
  }

  /// Group 65534 has no members but `nobody`, whose first group it is.
  @Test func aGroupSharesADatabaseWhenTheConfigurationSaysSo() throws {
    let path = try makeStore(in: 0o755)
    let place = directory.file("place")
    #expect(chown(place, 0, Self.nobody) == 0 && chmod(place, 0o2770) == 0)
    #expect(chown(path, 0, Self.nobody) == 0 && chmod(path, 0o660) == 0)
    #expect(code { try open(path) } == .unsafeLocation)
    try write([], to: path + "-wal")
    #expect(chown(path + "-wal", Self.nobody, Self.nobody) == 0)
    #expect(chmod(path + "-wal", 0o660) == 0)
    #expect(code { try open(path) { $0.access = .readOnly } } == .unsafeLocation)
    let store = try open(path) { $0.sharing = .group }
    try store.write { tx in try tx.insert(Artist(id: 2, name: "b")) }
    #expect(["-wal", "-shm"].map { mode(of: path + $0) } == ["660", "660"])
    let created = try open(place + "/new.db") { $0.sharing = .group }
    #expect(mode(of: created.path) == "660")
    var status = stat()
    #expect(lstat(created.path, &status) == 0 && status.st_gid == Self.nobody)
  }
}
