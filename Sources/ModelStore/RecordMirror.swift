/// A copy of a store's records in another database, for programs that read SQL there.
package protocol RecordMirror: Sendable {
  /// Brings the copy up to the newest state of `store`.
  ///
  /// - Parameter models: Models to copy beside those that it has already; nil for every model whose
  ///   changes are recorded.
  func update(from store: Store, models: [String]?) throws -> MirrorProgress

  /// Writes each record of the copy again.
  func rebuild(from store: Store) throws -> MirrorProgress

  /// Updates the copy, and compares each record with it in the same state.
  func verify(against store: Store) throws -> [MirrorDifference]

  /// Deletes the copy, or these models of it.
  ///
  /// - Returns: false if there is none.
  func remove(models: [String]?) throws -> Bool
}

/// What an update of a mirror did.
public struct MirrorProgress: Hashable, Sendable {
  /// The mirror has the state of the store after this position of the change journal.
  public let position: JournalPosition
  /// How many records were written or deleted. A record that changed often may count several times.
  public let recordCount: Int
  /// The models of which all records were written, in name order.
  public let rebuilt: [String]

  package init(position: JournalPosition, recordCount: Int, rebuilt: [String]) {
    self.position = position
    self.recordCount = recordCount
    self.rebuilt = rebuilt
  }
}

/// A record in which a mirror differs from its store.
public struct MirrorDifference: Hashable, Sendable {
  /// How it differs.
  public enum Kind: String, Hashable, Sendable {
    /// The mirror lacks it.
    case missing
    /// The mirror has other values.
    case changed
    /// Only the mirror has it.
    case extra
  }

  /// The model's name.
  public let model: String
  /// The values of the record's key, in key order.
  public let key: [SQLValue]
  /// How it differs.
  public let kind: Kind

  package init(model: String, key: [SQLValue], kind: Kind) {
    self.model = model
    self.key = key
    self.kind = kind
  }
}
