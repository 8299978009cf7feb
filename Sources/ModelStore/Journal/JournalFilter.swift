/// Which transactions of the change journal are wanted, and which of their changes. Everything that
/// is set has to hold.
public struct JournalFilter: Hashable, Sendable {
  /// Only changes of this model, and transactions that have some or a gap of it.
  package var model: String?
  /// Only changes of the record with this key, in key order; with ``model``.
  package var key: [SQLValue]?
  /// Only updates of the field called so, insertions and deletions, and changes of which only keys
  /// were kept.
  package var field: String?
  /// Only this transaction.
  package var transaction: TransactionID?
  /// Only transactions that were signed so.
  package var author: String?
  /// Only transactions that were signed so.
  package var tag: String?
  /// The name of the program that wrote.
  package var program: String?
  /// Only transactions of these times: microseconds since 1970-01-01 00:00:00 UTC. What other
  /// programs did has no time.
  package var time: Range<Int64>?
  /// Only what other programs did.
  package var isForeignOnly: Bool

  /// Everything that is left out is not asked for.
  public init(
    model: String? = nil, key: [SQLValue]? = nil, field: String? = nil,
    transaction: TransactionID? = nil, author: String? = nil, tag: String? = nil,
    program: String? = nil, time: Range<Int64>? = nil, isForeignOnly: Bool = false
  ) {
    self.model = model
    self.key = key
    self.field = field
    self.transaction = transaction
    self.author = author
    self.tag = tag
    self.program = program
    self.time = time
    self.isForeignOnly = isForeignOnly
  }
}

extension JournalFilter {
  /// - Parameter mark: nil for what other programs did.
  func admits(_ mark: JournalMark?) -> Bool {
    guard let mark else {
      return transaction == nil && author == nil && tag == nil && program == nil && time == nil
    }
    return !isForeignOnly
      && (transaction.map { $0 == mark.id } ?? true)
      && (author.map { isExactly($0, mark.signature.author) } ?? true)
      && (tag.map { isExactly($0, mark.signature.tag) } ?? true)
      && (program.map { isExactly($0, mark.program) } ?? true)
      && (time.map { $0.contains(mark.time) } ?? true)
  }

  func admits(_ change: JournalChange) -> Bool {
    (model.map { $0 == change.model } ?? true) && (key.map { $0 == change.key } ?? true)
      && (field.map { name in
        change.operation != .update || change.detail == .keys || change[name] != nil
      } ?? true)
  }

  /// Whether a transaction is wanted only for some of its changes.
  var selectsChanges: Bool { model != nil || key != nil || field != nil }

  private func isExactly(_ wanted: String, _ text: String?) -> Bool {
    text?.isExactly(wanted) ?? false
  }
}
