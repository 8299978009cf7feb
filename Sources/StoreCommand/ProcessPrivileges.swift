import ModelStore

#if canImport(Glibc)
  import Glibc
#elseif canImport(Musl)
  import Musl
#else
  import Darwin
#endif

/// The users and groups that a process runs as.
///
/// With more rights than its user, `storecli` would open any file for that user:
/// `-d`, the environment and configuration files name the database, `watch --exec` runs a program.
struct ProcessPrivileges: Hashable, Sendable {
  /// The real and effective ids of the user.
  var users: Set<UInt32>
  /// The real and effective ids of the group.
  var groups: Set<UInt32>
  /// Whether the system started the program with rights that its user lacks: set-user-ID,
  /// set-group-ID or file capabilities.
  var isElevated: Bool

  /// The error to end with; nil for an ordinary process.
  var problem: CommandError? {
    guard users.count > 1 || groups.count > 1 || isElevated else { return nil }
    return CommandError(
      .failed, code: "setuid",
      "\(Program.name) does not run with the rights of another user or group (set-user-ID, set-group-ID "
        + "or file capabilities): its user could open every file that they may open. "
        + "Remove them from the program, or run it as that user, as with sudo -u.",
      hint: "chmod u-s,g-s \"$(command -v \(Program.name))\"")
  }

  /// The privileges of this process.
  static var current: ProcessPrivileges {
    ProcessPrivileges(
      users: [getuid(), geteuid()], groups: [getgid(), getegid()],
      isElevated: ElevatedProcess.isCurrent)
  }
}
