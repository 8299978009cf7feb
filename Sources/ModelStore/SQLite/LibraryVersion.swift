/// A version of SQLite, with its known bugs that can damage a file.
package struct LibraryVersion {
  private let numbers: [Int]

  /// - Parameter text: Such as "3.51.3".
  package init(_ text: String) {
    numbers = text.split(separator: ".").map { Int($0) ?? 0 }
  }

  /// The version that this process uses.
  package static var current: LibraryVersion { LibraryVersion(Connection.libraryVersion) }

  /// Whether it has the WAL-reset bug. The fix is in 3.51.3 and later, and in two releases of older
  /// versions: <https://sqlite.org/wal.html#walresetbug>.
  package var hasWALResetBug: Bool {
    let hasBackport = [[3, 44, 6], [3, 50, 7]].contains { fixed in
      numbers.starts(with: fixed.prefix(2)) && !numbers.lexicographicallyPrecedes(fixed)
    }
    return !hasBackport && numbers.lexicographicallyPrecedes([3, 51, 3])
  }

  /// A sentence for each bug.
  package var bugs: [String] {
    guard hasWALResetBug else { return [] }
    return [
      "The WAL-reset bug, which 3.51.3 fixes: two other programs that write at the same time can damage the file. Stores are guarded against it."
    ]
  }
}
