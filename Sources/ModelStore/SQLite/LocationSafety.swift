/// What may be done with a database where it is, decided from owners and permissions alone.
///
/// SQLite takes what lies beside a database (`-wal`, `-journal`, `-shm`) for a part of it. A user
/// that may create files there, or write them, can therefore change the database.
struct LocationSafety {
  enum Verdict: Hashable {
    /// No other user may create files in the directory.
    case safe
    /// Others may create files, but not remove those of trusted users. The files beside the
    /// database must exist before SQLite opens them.
    case exposed
    /// Others may remove and replace the database itself. It may be read, not written.
    case replaceable(by: OtherWriters)
    /// Another user may have put the file there. It may be read, not written.
    case planted(by: UInt32)
  }

  /// Why SQLite may not open a file beside the database.
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
  let _membership: GroupMembership

  /// The users that may change the database anyway.
  private var trusted: Set<UInt32> { [user, 0, file.user] }

  /// The verdict on the directory. Its owner can replace files in it at any time and is trusted not
  /// to, but has no say in what lies beside the database.
  var verdict: Verdict {
    guard let writers = directory.otherWriters(besides: trusted, in: _membership) else {
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

  /// Why a regular file beside the database, with one name, must not be opened; nil when it may.
  func problem(withCompanion companion: FileOwnership) -> CompanionProblem? {
    let isOfGroup = sharing == .group && _membership.contains(file.group, companion.user)
    guard trusted.contains(companion.user) || isOfGroup else {
      return .foreignOwner(companion.user)
    }
    // What anyone may write has no fewer writers than any file beside it.
    guard !file.isWorldWritable else { return nil }
    let users = trusted.union([companion.user])
    switch companion.otherWriters(besides: users, in: _membership) {
    case .group(let group) where file.isGroupWritable && file.group == group: return nil
    case .some(let writers): return .writable(by: writers)
    case nil: return nil
    }
  }
}
