/// A read-only view of one state of the store, lent to a `read` closure. Writers do not wait for
/// it and cannot be seen by it.
///
/// Keep it short: while it lives, the WAL cannot be reused.
public struct ReadTransaction: ~Copyable, TransactionReads {
  /// The connection that it reads through, for the methods of ``TransactionReads``.
  public let access: _TransactionAccess

  init(access: _TransactionAccess) {
    self.access = access
  }
}
