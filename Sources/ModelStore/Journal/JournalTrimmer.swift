/// Removes the oldest rows of a file's change journal, in steps.
///
/// A step removes whole transactions, about ``stepRowCount`` rows together, or one that has more.
/// Where other programs wrote, the journal does not tell one transaction from the next, and a step
/// may end anywhere between two records.
struct JournalTrimmer {
  let connection: Connection
  let retention: JournalRetention
  /// Microseconds since 1970-01-01 00:00:00 UTC.
  let now: Int64
  /// What is entered behind this position stays: observers are still to be told of it.
  let told: Int64

  static let stepRowCount: Int64 = 1000

  /// What a step did.
  struct Step {
    var removedCount: Int64 = 0
    var kept: ClosedRange<Int64>?
    var heldBackBy: String?
  }

  private struct Mark {
    let position: Int64
    /// The position of its transaction's first row.
    let first: Int64
    let time: Int64
  }

  init(
    connection: Connection, retention: JournalRetention, now: Int64, told: Int64 = .max
  ) {
    self.connection = connection
    self.retention = retention
    self.now = now
    self.told = told
  }

  /// Removes what comes next.
  ///
  /// - Returns: With ``Step/removedCount`` 0 when nothing more is to go.
  /// - Precondition: A write transaction is open.
  func step() throws -> Step {
    guard let bounds = try JournalReader.bounds(on: connection) else { return Step() }
    let (last, holder) = try end(in: bounds)
    var step = Step(kept: bounds, heldBackBy: holder)
    guard let last else { return step }
    try connection.run("DELETE FROM _ms_journal WHERE position <= \(last)")
    step.removedCount = Int64(connection.changeCount)
    step.kept = (last + 1)...bounds.upperBound
    return step
  }

  /// What all steps together would do.
  ///
  /// - Precondition: A transaction is open.
  func preview() throws -> Step {
    guard var bounds = try JournalReader.bounds(on: connection) else { return Step() }
    var step = Step(kept: bounds)
    while true {
      let (last, holder) = try end(in: bounds)
      step.heldBackBy = holder
      guard let last else { return step }
      step.removedCount +=
        try connection.firstRow(
          """
          SELECT count(*)
          FROM _ms_journal
          WHERE position BETWEEN \(bounds.lowerBound) AND \(last)
          """
        ) { row in try row.integer(at: 0) } ?? 0
      bounds = (last + 1)...bounds.upperBound
      step.kept = bounds
    }
  }

  /// The last row that the next step removes of a journal of `bounds`, nil when nothing is to go,
  /// and the consumer for whose sake it is not more.
  private func end(in bounds: ClosedRange<Int64>) throws -> (last: Int64?, heldBackBy: String?) {
    var holder: String?
    // Not beyond the newest row, or its position would be used again.
    var end = min(try wantedEnd(in: bounds), bounds.upperBound - 1, told)
    if retention.respectsConsumers,
      let slowest = try JournalConsumers(connection: connection)
        .slowest(), slowest.position < end
    {
      holder = slowest.name
      end = slowest.position
    }
    guard end >= bounds.lowerBound else { return (nil, holder) }
    return (try wholeEnd(from: bounds.lowerBound, upTo: end), holder)
  }

  /// The last row that the limits do not keep, as far as this step wants to know.
  private func wantedEnd(in bounds: ClosedRange<Int64>) throws -> Int64 {
    var end = bounds.lowerBound - 1
    if let count = retention.entryCountMax {
      end = max(end, bounds.upperBound - Int64(max(0, count)))
    }
    if let size = retention.byteCountMax {
      let count = Double(max(0, size)) / (try JournalSize.ofRow(on: connection, in: bounds))
      end = max(end, bounds.upperBound - Int64(min(count, Double(bounds.count))))
    }
    if let age = retention.age {
      end = max(end, try oldEnd(from: bounds.lowerBound, until: now - age.microseconds))
    }
    return end
  }

  /// The last of the first rows that were written until `time`, as far as that is known.
  private func oldEnd(from lower: Int64, until time: Int64) throws -> Int64 {
    let window = lower + Self.stepRowCount - 1
    var end = lower - 1
    for mark in try marks(from: lower, through: window) {
      guard mark.time <= time else { return end }
      end = mark.position
    }
    guard let next = try firstMark(behind: window), next.time <= time else { return end }
    return next.position
  }

  /// The last row not behind `end` at which a step can end; nil when it would remove nothing.
  private func wholeEnd(from lower: Int64, upTo end: Int64) throws -> Int64? {
    let wanted = min(end, lower + Self.stepRowCount - 1)
    // The row behind it may belong to the same transaction.
    if let mark = try firstMark(behind: wanted), mark.first <= wanted {
      if mark.first > lower { return mark.first - 1 }
      return mark.position <= end ? mark.position : nil
    }
    let start = try connection.firstRow(
      """
      SELECT max(position)
      FROM _ms_journal
      WHERE position > \(lower) AND position <= \(wanted + 1)
      AND (layout = \(JournalLayout.journalNumber) OR \(SQLText(sql: JournalCode.isPart0)))
      """
    ) { row in row.isNull(at: 0) ? nil : try row.integer(at: 0) }
    return start.flatMap { $0 }.map { $0 - 1 }
  }

  private func firstMark(behind position: Int64) throws -> Mark? {
    try marks(from: position + 1, through: .max, countMax: 1).first
  }

  private func marks(
    from first: Int64, through last: Int64, countMax: Int64 = .max
  ) throws -> [Mark] {
    try connection.rows(
      """
      SELECT position, c0, c2
      FROM _ms_journal
      WHERE position BETWEEN \(first) AND \(last)
      AND \(JournalMark.isMark)
      ORDER BY position
      LIMIT \(countMax)
      """
    ) { row in
      Mark(
        position: try row.integer(at: 0), first: try row.integer(at: 1),
        time: try row.integer(at: 2))
    }
  }
}

extension Duration {
  /// Rounded down.
  var microseconds: Int64 {
    let (seconds, attoseconds) = components
    let (product, isTooLong) = seconds.multipliedReportingOverflow(by: 1_000_000)
    return isTooLong ? .max / 2 : product + attoseconds / 1_000_000_000_000
  }
}
