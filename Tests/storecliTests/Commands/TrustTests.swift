import Foundation
import Testing

@testable import ModelStore
@testable import StoreCommand

#if canImport(Glibc)
  import Glibc
#elseif canImport(Musl)
  import Musl
#else
  import Darwin
#endif

/// Which configuration files are believed, and with whose rights the program runs.
@Suite(.tags(.process)) struct TrustTests {
  private static let user: UInt32 = 1000
  private static let stranger: UInt32 = 1002
  private static let privateGroup: UInt32 = 2000
  private static let staff: UInt32 = 2001
  private static let membership = GroupMembership(
    isPrivate: { group, _ in group == privateGroup }, contains: { _, _ in false })

  /// Every owner, group and mode of a file and its directory.
  @Test func aConfigurationIsReadWhenNoOtherUserCanHaveWrittenIt() {
    let users = [Self.user, Self.stranger, 0]
    let groups = [Self.privateGroup, Self.staff]
    let modes: [UInt32] = [0o600, 0o660, 0o606, 0o666]
    for fileUser in users {
      for (fileGroup, fileMode) in groups.flatMap({ group in modes.map { (group, $0) } }) {
        for directoryUser in users {
          for (group, mode) in groups.flatMap({ group in modes.map { (group, $0 | 0o111) } }) {
            for sticky: UInt32 in [0, 0o1000] {
              let file = FileOwnership(user: fileUser, group: fileGroup, mode: fileMode)
              let directory = FileOwnership(
                user: directoryUser, group: group, mode: mode | sticky)
              let expected: ConfigurationTrust.Problem? =
                if fileUser == Self.stranger {
                  .fileOwner(Self.stranger)
                } else if fileMode & 0o002 != 0 {
                  .fileWriters(.anyone)
                } else if fileMode & 0o020 != 0 && fileGroup == Self.staff {
                  .fileWriters(.group(Self.staff))
                } else if directoryUser == Self.stranger {
                  .directoryOwner(Self.stranger)
                } else if sticky != 0 {
                  nil
                } else if mode & 0o002 != 0 {
                  .directoryWriters(.anyone)
                } else if mode & 0o020 != 0 && group == Self.staff {
                  .directoryWriters(.group(Self.staff))
                } else {
                  nil
                }
              let found = ConfigurationTrust(
                user: Self.user, file: file, directory: directory, membership: Self.membership
              ).problem
              #expect(found == expected, "\(file) \(directory)")
            }
          }
        }
      }
    }
  }

  @Test(.enabled(if: getuid() == 0, "Only root can give files to other users."))
  func aConfigurationOfAnotherUserIsRefusedWithTheRemedy() throws {
    let place = try Workplace()
    try place.makeMusic()
    place.environment = [:]
    try place.write("db = \"music.store\"\n", to: "storecli.toml")
    let file = place.path("storecli.toml")
    #expect(try place.runProcess("query", "Artist", "--count").out == "40\n")
    #expect(chown(file, 65_534, 65_534) == 0)
    #expect(
      try place.runProcess("query", "Artist", "--count")
        == Outcome(
          code: 1, out: "",
          err: """
            error[configuration]: \(file) is not read: it belongs to nobody (user 65534), so \
            another user may choose your database. Pass -d PATH or set STORECLI_DB; or, if you \
            trust the file, make it yours alone.
            hint: chown 0 \(file)

            """))
    #expect(
      try place.runProcess("query", "Artist", "--count", "-d", place.path("music.store")).out
        == "40\n")
    #expect(chown(file, 0, 0) == 0 && chmod(file, 0o666) == 0)
    #expect(
      try place.runProcess("query", "Artist", "--count").err.contains("any user can write it"))
    #expect(chmod(file, 0o644) == 0 && chmod(place.directory, 0o777) == 0)
    #expect(
      try place.runProcess("query", "Artist", "--count").err.contains("any user can replace it in"))
    #expect(chmod(place.directory, 0o755) == 0)
    #expect(rename(file, place.path("theirs.toml")) == 0 && symlink("theirs.toml", file) == 0)
    #expect(try place.runProcess("query", "Artist", "--count").out == "40\n")
    #expect(lchown(file, 65_534, 65_534) == 0)
    #expect(try place.runProcess("query", "Artist", "--count").err.contains("it belongs to nobody"))
    // The person's own configuration too.
    #expect(unlink(file) == 0)
    try FileManager.default.createDirectory(
      atPath: place.path(".config/storecli"), withIntermediateDirectories: true)
    try place.write("db = \"../../music.store\"\n", to: ".config/storecli/config.toml")
    #expect(try place.runProcess("query", "Artist", "--count").out == "40\n")
    #expect(chown(place.path(".config/storecli/config.toml"), 65_534, 65_534) == 0)
    #expect(try place.runProcess("query", "Artist", "--count").err.contains("it belongs to nobody"))
  }

  @Test func aConfigurationSaysThatAGroupSharesTheDatabase() throws {
    let place = try Workplace()
    try place.makeMusic()
    place.environment = [:]
    try place.write("db = \"music.store\"\nsharing = \"group\"\n", to: "storecli.toml")
    #expect(try place.runProcess("query", "Artist", "--count").out == "40\n")
    try place.write("db = \"music.store\"\nsharing = \"all\"\n", to: "storecli.toml")
    #expect(
      try place.runProcess("query", "Artist", "--count").err
        == """
        error[configuration]: \(place.path("storecli.toml")): sharing is "all"; write \
        sharing = "owner" or sharing = "group".

        """)
  }

  @Test func readingAReplaceableFileWarns() throws {
    let place = try Workplace()
    try place.makeMusic()
    #expect(chmod(place.directory, 0o777) == 0)
    let path = place.path("music.store")
    let reason = """
      Any user can replace \(path), because any user can write \(place.directory). It can only be \
      read. Run chmod o-w \(place.directory), or chmod +t \(place.directory) so that users replace \
      only their own files.

      """
    #expect(
      try place.runProcess("query", "Artist", "--count")
        == Outcome(code: 0, out: "40\n", err: "warning: " + reason))
    #expect(try place.runProcess("query", "Artist", "--count", "-q").err == "")
    #expect(
      try place.runProcess("update", "Artist", "1", "name=x")
        == Outcome(code: 1, out: "", err: "error[unsafeLocation]: " + reason))
    #expect(chmod(place.directory, 0o755) == 0)
  }

  /// Companions lie beside the real file, and a command must not overwrite them under that name.
  @Test func theFilesOfALinkedDatabaseAreNotOverwritten() throws {
    let place = try Workplace()
    try place.makeMusic()
    #expect(mkdir(place.path("elsewhere"), 0o700) == 0)
    #expect(symlink("../music.store", place.path("elsewhere/link.store")) == 0)
    let link = place.path("elsewhere/link.store")
    for file in ["music.store", "music.store-wal", "elsewhere/link.store"] {
      let outcome = try place.runProcess("export", "Artist", "--to", place.path(file), "-d", link)
      #expect(outcome.err.hasPrefix("error[output]: "), "\(outcome)")
    }
    #expect(try place.runProcess("query", "Artist", "--count", "-d", link).out == "40\n")
  }

  @Test func aProcessWithTheRightsOfAnotherUserIsRefused() {
    func isRefused(_ users: Set<UInt32>, _ groups: Set<UInt32>, _ isElevated: Bool) -> Bool {
      ProcessPrivileges(users: users, groups: groups, isElevated: isElevated).problem != nil
    }
    #expect(!isRefused([1000], [1000], false))
    #expect(!isRefused([0], [0], false))
    #expect(isRefused([1000, 0], [1000], false))
    #expect(isRefused([1000], [1000, 0], false))
    #expect(isRefused([1000], [1000], true))
    #expect(ProcessPrivileges.current.problem == nil)
  }

  @Test(
    .enabled(if: getuid() == 0, "Only root can make a program of root's rights."),
    arguments: [mode_t(0o4755), 0o2755])
  func theProgramDoesNotRunWithTheRightsOfItsFile(mode: mode_t) throws {
    let place = try Workplace()
    #expect(chmod(place.directory, 0o755) == 0)
    let program = place.path("storecli")
    try FileManager.default.copyItem(atPath: Workplace.program, toPath: program)
    func outcome() throws -> Outcome {
      let process = Process()
      process.executableURL = URL(fileURLWithPath: "/usr/bin/setpriv")
      process.arguments =
        ["--reuid", "65534", "--regid", "65534", "--clear-groups", program, "version"]
      let (output, errors) = (Pipe(), Pipe())
      process.standardOutput = output
      process.standardError = errors
      try process.run()
      let out = try output.fileHandleForReading.readToEnd() ?? Data()
      let err = try errors.fileHandleForReading.readToEnd() ?? Data()
      process.waitUntilExit()
      return Outcome(
        code: process.terminationStatus, out: String(decoding: out, as: UTF8.self),
        err: String(decoding: err, as: UTF8.self))
    }
    #expect(chmod(program, 0o755) == 0)
    try #require(try outcome().code == 0)
    #expect(chmod(program, mode) == 0)
    let refused = try outcome()
    #expect(refused.code == 1)
    #expect(refused.out == "")
    #expect(refused.err.hasPrefix("error[setuid]: storecli does not run with the rights of"))
  }
}
