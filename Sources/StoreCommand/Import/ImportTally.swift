import ModelStore

/// The counts of an import so far.
struct ImportTally {
  var inserted = 0
  var updated = 0
  /// Records that were there already, value for value.
  var unchanged = 0
  /// Records that the store had and the input has not.
  var deletions = Mirroring.Deletions()
  /// Records that the import was not asked to write.
  var skipped = 0
  private(set) var rejected = 0
  /// The first few reasons for rejection.
  private var reasons: [String] = []
  /// The rules that only warn and that the written records break.
  private(set) var warned = WarnedRecords()

  /// How many broken rules that only warn are listed; all are counted.
  static let maxListedWarningCount = 100

  /// Records that the store has now.
  var written: Int { inserted + updated + unchanged }

  var read: Int { written + skipped + rejected }

  mutating func note(_ outcome: RecordWriting.Outcome) {
    switch outcome {
    case .inserted: inserted += 1
    case .updated: updated += 1
    case .unchanged: unchanged += 1
    case .skipped: skipped += 1
    }
  }

  mutating func reject(_ reason: String) {
    rejected += 1
    if reasons.count < CommandError.maxViolationCount { reasons.append(reason) }
  }

  mutating func note(_ warned: WarnedRecords) {
    self.warned.add(warned, maxListedCount: Self.maxListedWarningCount)
  }

  /// Counts as rejected what `other` does.
  mutating func takeRejects(of other: ImportTally) {
    rejected = other.rejected
    reasons = other.reasons
  }

  /// Why a record is refused, with its place in the input, such as `line 3`.
  static func reason(_ error: any Error, at place: String) -> String {
    // The errors of a reader name the place themselves.
    error is StoreError ? "\(place): \(reason(error))" : reason(error)
  }

  /// Why a record is refused.
  static func reason(_ error: any Error) -> String {
    guard let error = error as? StoreError else { return CommandError(error).message }
    guard !error.violations.isEmpty else { return error.message }
    return error.violations
      .map { ($0.fields.isEmpty ? "" : $0.fields.joined(separator: ",") + " ") + $0.message }
      .joined(separator: "; ")
  }

  /// The counts: `3 read  2 inserted  1 rejected`.
  ///
  /// - Parameter selects: Whether a condition left records out.
  func summary(of mode: ImportMode, selects: Bool) -> String {
    var parts = ["\(Grouped.text(read)) read"]
    func add(_ count: Int, _ word: String) { parts.append("\(Grouped.text(count)) \(word)") }
    if mode != .updateOnly { add(inserted, "inserted") }
    if mode != .insert, mode != .skipExisting {
      add(updated, "updated")
      add(unchanged, "unchanged")
    }
    if mode == .replace { add(deletions.count, "deleted") }
    if mode == .updateOnly || mode == .skipExisting || selects { add(skipped, "skipped") }
    add(rejected, "rejected")
    return parts.joined(separator: "  ")
  }

  /// What references deleted, one line for each model.
  var cascadeLines: [String] {
    deletions.cascaded.map {
      "  deleted with them: \(Grouped.text($0.count, "\($0.model) record"))"
    }
  }

  /// The reasons that are printed, and how many are not.
  var reasonLines: [String] {
    let shown = reasons.map { "  \($0)" }
    let rest = rejected - reasons.count
    return rest > 0 ? shown + ["  and \(Grouped.text(rest)) more"] : shown
  }
}
