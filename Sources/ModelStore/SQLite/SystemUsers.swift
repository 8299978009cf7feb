internal import Synchronization

#if canImport(Glibc)
  internal import Glibc
#elseif canImport(Musl)
  internal import Musl
#else
  internal import Darwin
#endif

/// Looks up names and groups of the system's users.
package enum SystemUsers {
  /// Held during every lookup, because the C functions return memory that the next call overwrites.
  private static let lock = Mutex(())

  /// Returns a user for a message, such as `root (user 0)`, or `user 1001` without a name.
  package static func userText(_ user: UInt32) -> String {
    lock.withLock { _ in name(ofUser: user) }.map { "\($0) (user \(user))" } ?? "user \(user)"
  }

  /// Returns a group for a message, such as `staff (group 50)`, or `group 50` without a name.
  package static func groupText(_ group: UInt32) -> String {
    let name = lock.withLock { _ in
      getgrgid(group).map { String(cString: $0.pointee.gr_name) }
    }
    return name.map { "\($0) (group \(group))" } ?? "group \(group)"
  }

  /// Whether `group` has no members other than `users`, as far as the user database lists them.
  ///
  /// A group without an entry is private if it has the number of one of the users, which is the
  /// convention for a user's own group. System accounts may have group 0 as their first group.
  static func isPrivate(group: UInt32, to users: Set<UInt32>) -> Bool {
    lock.withLock { _ in
      let names = Set(users.compactMap(name(ofUser:)))
      guard let members = memberNames(of: group) else { return users.contains(group) }
      guard members.allSatisfy(names.contains) else { return false }
      guard group != 0 else { return true }
      setpwent()
      defer { endpwent() }
      while let entry = getpwent() {
        if entry.pointee.pw_gid == group, !users.contains(entry.pointee.pw_uid) { return false }
      }
      return true
    }
  }

  /// Whether the group is the first group of `user`, or lists the user as a member.
  static func isMember(_ user: UInt32, of group: UInt32) -> Bool {
    lock.withLock { _ in
      guard let entry = getpwuid(user) else { return false }
      if entry.pointee.pw_gid == group { return true }
      let name = String(cString: entry.pointee.pw_name)
      return memberNames(of: group)?.contains(name) ?? false
    }
  }

  private static func name(ofUser user: UInt32) -> String? {
    getpwuid(user).map { String(cString: $0.pointee.pw_name) }
  }

  /// Returns the members in the group's entry; nil if it has no entry.
  private static func memberNames(of group: UInt32) -> [String]? {
    guard let entry = getgrgid(group) else { return nil }
    var names: [String] = []
    var place = entry.pointee.gr_mem
    while let member = place?.pointee {
      names.append(String(cString: member))
      place = place?.successor()
    }
    return names
  }
}
