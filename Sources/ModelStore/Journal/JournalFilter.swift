/// A filter for transactions of the change journal and for their changes. Every condition that is
/// set must be true.
public struct JournalFilter: Hashable, Sendable {
  /// Only changes of this model, and transactions that contain a change or a gap of it.
  package var model: String?
  /// Only changes of the record with this key, with values in key order. Requires ``model``.
  package var key: [SQLValue]?
  /// Only updates of this field, insertions and deletions, and changes of which only keys were
  /// recorded.
  package var field: String?
  /// Only this transaction.
  package var transaction: TransactionID?
  /// Only transactions with this author.
  package var author: String?
  /// Only transactions with this tag.
  package var tag: String?
  /// Only transactions of the program with this name.
  package var program: String?
  /// Only transactions of these times, in microseconds since 1970-01-01 00:00:00 UTC. Changes of
  /// other programs have no time.
  package var time: Range<Int64>?
  /// Only changes of other programs.
  package var isForeignOnly: Bool

  /// Creates a filter. A condition that you leave out accepts everything.
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
  /// - Parameter mark: The commit record; nil for changes of other programs.
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

  /// Whether the filter accepts only some changes of a transaction.
  var selectsChanges: Bool { model != nil || key != nil || field != nil }

  private func isExactly(_ wanted: String, _ text: String?) -> Bool {
    text?.isExactly(wanted) ?? false
  }
}
