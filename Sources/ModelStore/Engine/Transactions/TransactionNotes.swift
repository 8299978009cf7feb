/// The notes of a transaction's calls for its end: how to validate it, and what its commit record
/// contains.
struct TransactionNotes {
  /// Whether a statement ran that may have changed the schema.
  var ranRawSQL = false
  /// Whether records were deleted, and whether any were written.
  var removesRecords = false
  var addsRecords = false
  /// The id of the transaction in the change journal.
  private(set) lazy var transactionID = TransactionID.make(first: journalPlace)
  /// The number of changes on the connection that need no commit record.
  var unsignedChangeCount: Int64 = 0
  /// The author and tag of the commit record.
  var signature = TransactionSignature()
  /// Whether a commit record is written even if nothing was changed.
  var isSignedAnyway = false
  /// Reviews the changes after the validators; throws to reject the transaction.
  var review: (([RecordChange]) throws -> Void)?
  /// The transaction that this transaction reverts.
  var reversal: JournalMark.Reversal?
  /// The position of the transaction's first row in the change journal; nil if it has none.
  private let journalPlace: Int64?

  init(journalPlace: Int64?) {
    self.journalPlace = journalPlace
  }

  /// Whether the transaction only deletes records, as far as its calls show.
  var onlyRemoves: Bool { removesRecords && !addsRecords }
}
