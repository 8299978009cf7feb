#if canImport(Glibc)
  package import Glibc
#elseif canImport(Musl)
  package import Musl
#else
  package import Darwin
#endif

/// The owner, the group and the permissions of a file or directory.
package struct FileOwnership: Hashable, Sendable {
  package var user: UInt32
  package var group: UInt32
  /// The permission bits and the sticky bit.
  package var mode: UInt32

  package init(user: UInt32, group: UInt32, mode: UInt32) {
    self.user = user
    self.group = group
    self.mode = mode
  }

  package init(_ status: stat) {
    self.init(
      user: status.st_uid, group: status.st_gid, mode: UInt32(status.st_mode) & 0o1777)
  }

  var isGroupWritable: Bool { mode & 0o020 != 0 }
  var isWorldWritable: Bool { mode & 0o002 != 0 }
  /// Whether only its owner may remove or rename a file in the directory.
  package var isSticky: Bool { mode & 0o1000 != 0 }

  /// The users other than `trusted` and the owner that may write the file or directory.
  package func otherWriters(
    besides trusted: Set<UInt32>, in membership: GroupMembership
  ) -> OtherWriters? {
    if isWorldWritable { return .anyone }
    guard isGroupWritable, !membership.isPrivate(group, trusted) else { return nil }
    return .group(group)
  }
}

/// Users that may write a file or directory but are not trusted.
package enum OtherWriters: Hashable, Sendable {
  case group(UInt32)
  case anyone
}

/// Looks up the members of groups, in the system or in a test.
package struct GroupMembership: Sendable {
  /// Whether a group has no members other than the given users.
  package let isPrivate: @Sendable (_ group: UInt32, _ users: Set<UInt32>) -> Bool
  /// Whether a user is a member of a group.
  package let contains: @Sendable (_ group: UInt32, _ user: UInt32) -> Bool

  package init(
    isPrivate: @escaping @Sendable (_ group: UInt32, _ users: Set<UInt32>) -> Bool,
    contains: @escaping @Sendable (_ group: UInt32, _ user: UInt32) -> Bool
  ) {
    self.isPrivate = isPrivate
    self.contains = contains
  }

  /// The user and group databases of the system.
  package static let system = GroupMembership(
    isPrivate: { SystemUsers.isPrivate(group: $0, to: $1) },
    contains: { SystemUsers.isMember($1, of: $0) })
}
