import ModelStore

/// The counts of an import so far.
struct ImportTally {
  var inserted = 0
  var updated = 0
  /// Records that were there already, value for value.
  var unchanged = 0
  private(set) var rejected = 0
  /// The first few reasons for rejection.
  private var reasons: [String] = []
  /// The rules that only warn and that the written records break.
  private(set) var warned = WarnedRecords()

  /// How many broken rules that only warn are listed; all are counted.
  static let maxListedWarningCount = 100

  /// Records that the store has now.
  var written: Int { inserted + updated + unchanged }

  var read: Int { written + rejected }

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
    guard let error = error as? StoreError else { return CommandError(error).message }
    guard !error.violations.isEmpty else { return "\(place): \(error.message)" }
    let rules = error.violations
      .map { ($0.fields.isEmpty ? "" : $0.fields.joined(separator: ",") + " ") + $0.message }
    return "\(place): " + rules.joined(separator: "; ")
  }

  /// The counts: `3 read  2 inserted  1 rejected`.
  func summary(isUpsert: Bool) -> String {
    var parts = ["\(Grouped.text(read)) read", "\(Grouped.text(inserted)) inserted"]
    if isUpsert {
      parts += ["\(Grouped.text(updated)) updated", "\(Grouped.text(unchanged)) unchanged"]
    }
    parts.append("\(Grouped.text(rejected)) rejected")
    return parts.joined(separator: "  ")
  }

  /// The reasons that are printed, and how many are not.
  var reasonLines: [String] {
    let shown = reasons.map { "  \($0)" }
    let rest = rejected - reasons.count
    return rest > 0 ? shown + ["  and \(Grouped.text(rest)) more"] : shown
  }
}
