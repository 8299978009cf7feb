/// A read-only view of one state of the store, passed to a `read` closure.
///
/// Writers do not wait for it, and it does not see their changes. Keep it short: while it exists,
/// the WAL cannot be reused.
public struct ReadTransaction: ~Copyable, TransactionReads {
  /// The connection for the methods of ``TransactionReads``.
  public let access: _TransactionAccess

  init(access: _TransactionAccess) {
    self.access = access
  }
}
