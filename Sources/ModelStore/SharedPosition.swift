/// A point in the history of a shared store: everything up to one of its commits.
///
/// With it, a client sees its own writes whichever member answers. Take the position after a write,
/// send it to the client, and pass it to the member that serves the client's next request:
///
/// ```swift
/// try await store.write { tx in try tx.insert(order) }
/// let position = try await store.sharedPosition()?.description
/// ```
/// ```swift
/// if let position = position.flatMap(SharedPosition.init) {
///   try await store.refresh(atLeast: position)
/// }
/// ```
///
/// It is not secret. All members have the commits in the same order, so the later of two positions
/// of one store includes the earlier.
public struct SharedPosition: Hashable, Sendable, Codable {
  /// The name of the shared store.
  public let store: String
  /// The number of the commit in the ledger, from 0. Numbers are not used again, unless the ledger
  /// has lost commits.
  public let number: Int64

  /// Creates a position from its parts, which you may store.
  public init(store: String, number: Int64) {
    self.store = store
    self.number = number
  }
}

extension SharedPosition: LosslessStringConvertible {
  /// The name, a colon, and the number: `music:42`.
  public var description: String { "\(store):\(number)" }

  /// Reads what ``description`` returns; nil for any other text.
  public init?(_ description: String) {
    guard let colon = description.utf8.lastIndex(of: UInt8(ascii: ":")),
      let number = Int64(description[description.index(after: colon)...])
    else { return nil }
    self.init(store: String(description[..<colon]), number: number)
    guard self.description == description else { return nil }
  }
}

extension Store {
  /// The newest commit of the shared store that this member has; nil if the store is not a member.
  ///
  /// After a write has returned, the position includes it. It may include later commits, too.
  ///
  /// - Throws: ``StoreError`` if the file cannot be read.
  /// - Complexity: Reads one row. It does not ask the ledger.
  public func sharedPosition() throws -> SharedPosition? {
    try open.look { try MemberRecord(reading: $0) }.map {
      SharedPosition(store: $0.store, number: $0.number.rawValue)
    }
  }

  /// The newest commit that this member has, without blocking the caller's thread.
  public func sharedPosition() async throws -> SharedPosition? {
    try await open.calls.run { [self] in try sharedPosition() }
  }

  /// Makes sure that transactions and fetches from now on see everything up to `position`. If the
  /// member lacks it, this does what ``refresh()`` does. Otherwise it does not ask the ledger, and
  /// live queries follow soon.
  ///
  /// - Parameter position: What ``sharedPosition()`` returned on any member.
  /// - Throws: As ``refresh()``. ``StoreError`` with code `misuse` if the store is not a member of
  ///   that shared store, or was opened without its ledger and lacks the position;
  ///   `unknownPosition` if the ledger has no such commit; `memberOutdated` if the schema has
  ///   changed before it.
  /// - Complexity: Reads one row if the member has the position. Otherwise it gets every commit
  ///   that the member lacks. Before `unknownPosition`, the ledger confirms that it is the newest
  ///   one, with a commit of its own.
  public func refresh(atLeast position: SharedPosition) throws {
    guard try !has(position) else { return }
    try refreshFromLedger()
    guard try !has(position) else { return }
    // The server may have been replaced, and lack what the new one has.
    try open.membership?.confirmLedger()
    try refreshFromLedger()
    guard try has(position) else {
      throw StoreError(
        .unknownPosition,
        "The shared store \(position.store) has no commit \(position.number). The position comes from another ledger, or the ledger has lost commits."
      )
    }
  }

  /// Makes sure that reads see everything up to `position`, without blocking the caller's thread.
  public func refresh(atLeast position: SharedPosition) async throws {
    try await open.calls.run { [self] in try refresh(atLeast: position) }
  }

  private func has(_ position: SharedPosition) throws -> Bool {
    guard let present = try sharedPosition(), present.store == position.store else {
      throw StoreError(
        .misuse, "\(path) is not a member of the shared store \(position.store).")
    }
    return present.number >= position.number
  }
}
