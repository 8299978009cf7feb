/// The rows that earlier writes of a shared transaction left, as far as later writes may need them.
///
/// The preupdate hook cannot read every row; see ``TrackedTable/needsSnapshot``. A snapshot
/// supplies the row then, but it contains none of the writes that wait for the same COMMIT. All
/// writes of a transaction have the same capture plan, so a table has the same number in each.
final class EarlierImages {
  private struct Place: Hashable {
    let table: Int
    let identity: ChangeCapture.RowIdentity
  }

  private var images: [Place: [SQLValue]?] = [:]
  /// The rows of the write that has not ended yet.
  private var pending: [Place: [SQLValue]?] = [:]

  /// Begins another write. What the write before it left is lost, unless it was kept.
  func beginWrite() { pending = [:] }

  /// Returns the row as the latest of the earlier writes left it; nil if none of them touched it.
  func image(of row: ChangeCapture.TouchedRow) -> [SQLValue]?? {
    images[Place(table: row.table, identity: row.identity)]
  }

  /// Records a row as the running write leaves it, if a snapshot may be needed for its table.
  func add(_ image: [SQLValue]?, of row: ChangeCapture.TouchedRow, in table: TrackedTable) {
    guard table.needsSnapshot || !table.fieldsWithDefault.isEmpty else { return }
    pending[Place(table: row.table, identity: row.identity)] = .some(image)
  }

  /// Ends a write that is kept.
  func keep() {
    images.merge(pending) { _, latest in latest }
    pending = [:]
  }
}
