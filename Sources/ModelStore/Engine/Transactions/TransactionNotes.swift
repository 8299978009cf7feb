/// What the calls of a transaction leave for its end: how it is judged, and what its commit record
/// says.
struct TransactionNotes {
  /// Whether a statement ran that may have changed the schema.
  var ranRawSQL = false
  /// Whether records were deleted, and whether any were written.
  var removesRecords = false
  var addsRecords = false
  /// What the change journal calls the transaction.
  private(set) lazy var transactionID = TransactionID.make(first: journalPlace)
  /// How many of the changes on the connection are no reason to say so in the change journal.
  var unsignedChangeCount: Int64 = 0
  /// What the change journal is to say of it.
  var signature = TransactionSignature()
  /// Whether it says so even when nothing was changed.
  var isSignedAnyway = false
  /// Judges what the transaction did, after the validators; refuses it by throwing.
  var review: (([RecordChange]) throws -> Void)?
  /// That the transaction takes another back.
  var reversal: JournalMark.Reversal?
  /// Where the transaction's rows in the change journal begin; nil where it has none.
  private let journalPlace: Int64?

  init(journalPlace: Int64?) {
    self.journalPlace = journalPlace
  }

  /// Whether the transaction deletes records and inserts none, as far as its calls say.
  var onlyRemoves: Bool { removesRecords && !addsRecords }
}
