import ModelStore

/// How far an import in batches has read its inputs, so that it can be continued exactly there.
///
/// The token names a row of the store, which each batch updates in its own transaction. So the
/// token stays the same, and a program that was killed between two batches has lost nothing.
struct ImportCheckpoint {
  let token: String
  private let models: [String]
  /// The records that were read, with those that were left out.
  private(set) var recordCount = 0
  /// The bytes of these records.
  private(set) var byteCount = 0
  private var fingerprint = StableHash()
  /// The count of records in the row of the store; nil if it has none.
  private(set) var filedCount: Int?

  init(of models: [String], resuming resumed: ImportProgress?) {
    self.models = models
    token = resumed?.token ?? Self.freshToken()
    filedCount = resumed?.recordCount
  }

  private static func freshToken() -> String {
    let digits = String(UInt32.random(in: .min ... .max), radix: 16)
    return String(repeating: "0", count: 8 - digits.count) + digits
  }

  /// The option that continues the import.
  var option: String { "--resume \(token)" }

  /// Notes that a record was read.
  mutating func note(_ bytes: [UInt8], of source: Int) {
    recordCount += 1
    byteCount += bytes.count
    fingerprint.add(source)
    fingerprint.add(SQLValue.blob(bytes))
  }

  /// Notes that the progress was committed.
  mutating func noteCommit() { filedCount = recordCount }

  func progress(rejectsByteCount: Int) -> ImportProgress {
    ImportProgress(
      token: token, models: models, recordCount: recordCount, fingerprint: fingerprint.integer,
      rejectsByteCount: rejectsByteCount)
  }

  /// Refuses an input that does not begin as the one that was imported so far.
  ///
  /// - Throws: ``CommandError``.
  func check(against filed: ImportProgress) throws {
    // A name may have a line feed, which also separates the names in the row.
    let isOther = models.joined(separator: "\n") != filed.models.joined(separator: "\n")
    let isSame =
      !isOther && recordCount == filed.recordCount
      && fingerprint.integer == filed.fingerprint
    guard !isSame else { return }
    let reason =
      if isOther {
        "that import was of \(filed.models.joined(separator: ", "))"
      } else if recordCount < filed.recordCount {
        "\(Grouped.text(filed.recordCount, "record")) were imported, and the input has only "
          + Grouped.text(recordCount)
      } else {
        "the first \(Grouped.text(filed.recordCount, "record")) of the input are not those that "
          + "were imported"
      }
    throw CommandError(
      .failed, code: "resume", "The import \(token) cannot be continued: \(reason).",
      hint: "repeat the command with the same files and options")
  }
}
