/// Decides what a store may do with a database at its location, from owners and permissions only.
///
/// SQLite treats the files beside a database (`-wal`, `-journal`, `-shm`) as parts of it. A user
/// that may create or write these files can therefore change the database.
struct LocationSafety {
  enum Verdict: Hashable {
    /// No other user may create files in the directory.
    case safe
    /// Other users may create files, but not remove those of trusted users. The files beside the
    /// database must exist before SQLite opens them.
    case exposed
    /// Other users may remove and replace the database itself. It may be read, not written.
    case replaceable(by: OtherWriters)
    /// Another user may have put the file there. It may be read, not written.
    case planted(by: UInt32)
  }

  /// Why SQLite must not open a file beside the database.
  enum CompanionProblem: Hashable {
    case notARegularFile
    case hardLinked(count: Int)
    case foreignOwner(UInt32)
    case writable(by: OtherWriters)
  }

  /// The effective user of the process.
  let user: UInt32
  let file: FileOwnership
  let directory: FileOwnership
  let sharing: StoreConfiguration.Sharing
  let membership: GroupMembership

  /// The users that can change the database in any case.
  private var trusted: Set<UInt32> { [user, 0, file.user] }

  /// The verdict on the directory. Its owner can replace files in it at any time and is trusted not
  /// to. But the owner's files beside the database are not trusted.
  var verdict: Verdict {
    guard let writers = directory.otherWriters(besides: trusted, in: membership) else {
      return trusted.contains(directory.user) ? .safe : .exposed
    }
    let isOwn = file.user == user || file.user == 0
    if directory.isSticky, isOwn { return .exposed }
    switch writers {
    case .group(let group) where sharing == .group && group == file.group: return .exposed
    case .anyone where directory.isSticky: return .planted(by: file.user)
    default: return .replaceable(by: writers)
    }
  }

  /// Returns why a regular file beside the database, with one name, must not be opened; nil if it
  /// may be.
  func problem(withCompanion companion: FileOwnership) -> CompanionProblem? {
    let isOfGroup = sharing == .group && membership.contains(file.group, companion.user)
    guard trusted.contains(companion.user) || isOfGroup else {
      return .foreignOwner(companion.user)
    }
    // Any user may already write the database, so the file beside it adds no writers.
    guard !file.isWorldWritable else { return nil }
    let users = trusted.union([companion.user])
    switch companion.otherWriters(besides: users, in: membership) {
    case .group(let group) where file.isGroupWritable && file.group == group: return nil
    case .some(let writers): return .writable(by: writers)
    case nil: return nil
    }
  }
}
