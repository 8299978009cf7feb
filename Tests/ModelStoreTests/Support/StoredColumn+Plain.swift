@testable import ModelStore

extension StoredColumn {
  /// A column of a table that has a rowid and no virtual columns.
  static func plain(_ position: Int) -> StoredColumn {
    StoredColumn(
      position: position, storedPosition: position, affinity: .blob, isWithoutRowID: false)
  }
}
