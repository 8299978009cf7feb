internal import CSQLite

/// A process that runs with more rights than its user: set-user-ID, set-group-ID or file
/// capabilities.
package enum ElevatedProcess {
  /// Whether this process is elevated: <https://man7.org/linux/man-pages/man3/getauxval.3.html>,
  /// `AT_SECURE`.
  package static var isCurrent: Bool { csqlite_is_elevated() != 0 }
}
