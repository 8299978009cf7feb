/// How far an import that commits in batches has come. The transaction of each batch stores it in
/// the file, so it always agrees with the records there, whatever ends the program.
package struct ImportProgress: Hashable, Sendable {
  /// The name by which a person continues the import.
  package let token: String
  /// What is imported: the models, in the order of the inputs.
  package let models: [String]
  /// The records of the input up to the end of the last batch, with those that were left out.
  package var recordCount: Int
  /// A hash of the bytes of these records.
  package var fingerprint: Int64
  /// The length of the file of rejected records at that time.
  package var rejectsByteCount: Int

  package init(
    token: String, models: [String], recordCount: Int, fingerprint: Int64, rejectsByteCount: Int
  ) {
    self.token = token
    self.models = models
    self.recordCount = recordCount
    self.fingerprint = fingerprint
    self.rejectsByteCount = rejectsByteCount
  }

  static let table = "_ms_imports"
}
