#if canImport(Glibc)
  internal import Glibc
#elseif canImport(Musl)
  internal import Musl
#else
  internal import Darwin
#endif

/// The process that opened a store. Only this process may use its connections, or close them.
///
/// See <https://sqlite.org/howtocorrupt.html#_carrying_an_open_database_connection_across_a_fork_>.
struct OpeningProcess: Sendable {
  private let id = getpid()

  var isCurrent: Bool { getpid() == id }

  /// Checks that the current process opened the store.
  ///
  /// - Throws: ``StoreError`` with code `forked` in a child of the process.
  func check() throws(StoreError) {
    guard isCurrent else {
      throw StoreError(
        .forked,
        """
        This process was forked while the store was open, and SQLite cannot be used on that file \
        here. Start another program (exec) that opens the store, or fork before you open it.
        """)
    }
  }
}
