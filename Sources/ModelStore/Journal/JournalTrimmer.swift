/// Removes the oldest rows of a file's change journal, in steps.
///
/// A step removes whole transactions, about `stepRowCount` rows in total, or one larger
/// transaction. The journal cannot separate transactions of other programs. There, a step may end
/// between any two records.
struct JournalTrimmer {
  let connection: Connection
  let retention: JournalRetention
  /// Microseconds since 1970-01-01 00:00:00 UTC.
  let now: Int64
  /// The published position. Later entries stay, because observers have not received them yet.
  let told: Int64

  static let stepRowCount: Int64 = 1000
  /// The most rows that a step removes, unless one transaction has more.
  let stepRowCount: Int64

  /// The result of a step.
  struct Step {
    var removedCount: Int64 = 0
    var kept: ClosedRange<Int64>?
    var heldBackBy: String?
  }

  private struct Mark {
    let position: Int64
    /// The position of its transaction's first row.
    let first: Int64
  }

  init(
    connection: Connection, retention: JournalRetention, now: Int64, told: Int64 = .max,
    stepRowCount: Int64 = Self.stepRowCount
  ) {
    self.stepRowCount = stepRowCount
    self.connection = connection
    self.retention = retention
    self.now = now
    self.told = told
  }

  /// Removes the next rows.
  ///
  /// - Returns: The step. Its ``Step/removedCount`` is 0 if there is nothing more to remove.
  /// - Precondition: A write transaction is open.
  func step() throws -> Step {
    var step = Step()
    if try hasRowsBeyondAll() {
      try connection.run(
        "DELETE FROM _ms_journal WHERE position > \(JournalReader.keptPositionMax)")
      step.removedCount = Int64(connection.changeCount)
      // The next changes were deleted with them, so this is a gap.
      try connection.run(
        """
        INSERT INTO _ms_journal (layout, entry, c0)
        SELECT \(JournalLayout.journalNumber), \(JournalMark.Kind.started.rawValue), number
        FROM _ms_journal_layouts
        WHERE is_current = 1
        """)
    }
    guard let bounds = try JournalReader.bounds(on: connection) else { return step }
    let (last, holder) = try end(in: bounds)
    (step.kept, step.heldBackBy) = (bounds, holder)
    guard let last else { return step }
    try connection.run("DELETE FROM _ms_journal WHERE position <= \(last)")
    step.removedCount += Int64(connection.changeCount)
    step.kept = (last + 1)...bounds.upperBound
    return step
  }

  /// Returns the result of all steps together.
  ///
  /// - Precondition: A transaction is open.
  func preview() throws -> Step {
    var step = Step()
    var limit = JournalReader.positionMax
    if try hasRowsBeyondAll() {
      limit = JournalReader.keptPositionMax
      step.removedCount = try JournalReader.rowCount(in: limit + 1...Int64.max, on: connection)
    }
    guard var bounds = try JournalReader.bounds(on: connection, upTo: limit) else { return step }
    step.kept = bounds
    while true {
      let (last, holder) = try end(in: bounds)
      step.heldBackBy = holder
      guard let last else { return step }
      step.removedCount += try JournalReader.rowCount(
        in: bounds.lowerBound...last, on: connection)
      step.kept = (last + 1)...bounds.upperBound
      let next = try JournalReader.place(
        ofRow: 1, behind: last, upTo: bounds.upperBound, on: connection)
      bounds = next...bounds.upperBound
    }
  }

  /// Whether there are rows that leave too few positions for stores. Another program wrote the
  /// first of them: beyond ``JournalReader/positionMax``, nothing can be read.
  private func hasRowsBeyondAll() throws -> Bool {
    try JournalReader.newest(on: connection).map { $0 > JournalReader.trimmingPositionMax } ?? false
  }

  /// Returns the last row that the next step removes, nil if there is nothing to remove. It also
  /// returns the consumer that prevents removing more.
  private func end(in bounds: ClosedRange<Int64>) throws -> (last: Int64?, heldBackBy: String?) {
    var holder: String?
    // The newest row stays, or its position would be used again.
    var end = min(try wantedEnd(in: bounds), bounds.upperBound - 1, told)
    if retention.respectsConsumers,
      let slowest = try JournalConsumers(connection: connection)
        .slowest(), slowest.position < end
    {
      holder = slowest.name
      end = slowest.position
    }
    guard end >= bounds.lowerBound else { return (nil, holder) }
    let last = try wholeEnd(from: bounds.lowerBound, upTo: end)
    // A damaged index can lead to a row outside of the requested range.
    if let last, last < bounds.lowerBound || last > end { throw JournalReader.disordered(last) }
    return (last, holder)
  }

  /// Returns the last row that is beyond the limits, as far as this step needs it.
  private func wantedEnd(in bounds: ClosedRange<Int64>) throws -> Int64 {
    var end = bounds.lowerBound - 1
    if let count = retention.maxEntryCount {
      end = max(
        end,
        try JournalReader.place(beforeNewest: Int64(max(0, count)), in: bounds, on: connection))
    }
    if let size = retention.maxByteCount {
      let count = Double(max(0, size)) / (try JournalSize.ofRow(on: connection, in: bounds))
      end = max(
        end,
        try JournalReader.place(
          beforeNewest: Int64(min(count, Double(JournalReader.positionMax))), in: bounds,
          on: connection))
    }
    if let age = retention.age {
      end = max(end, try oldEnd(in: bounds, until: now - age.microseconds))
    }
    return end
  }

  /// Returns the last of the first rows that were written until `limit`, as far as that is known.
  ///
  /// Clocks jump, so a single time does not decide. A transaction has its own time, unless both of
  /// the next two store transactions are older. Then it has the time of the younger of these two. A
  /// transaction is never older than an earlier one. A time in the future is ignored: the
  /// transaction has the time of the next one.
  private func oldEnd(in bounds: ClosedRange<Int64>, until limit: Int64) throws -> Int64 {
    var end = bounds.lowerBound - 1
    let window = try JournalReader.place(
      ofRow: stepRowCount, behind: end, upTo: bounds.upperBound, on: connection)
    var times = try markTimes(from: bounds.lowerBound, through: window)
    let ownCount = times.count
    times += try markTimes(
      from: window + 1, through: bounds.upperBound, countMax: ownCount == 0 ? 3 : 2)
    for (index, mark) in times.enumerated() where index <= ownCount {
      let next = times[(index + 1)...].prefix(2).map(\.time)
      let time = next.count == 2 ? min(mark.time, max(next[0], next[1])) : mark.time
      guard time <= limit else { return end }
      end = mark.position
    }
    return end
  }

  /// Returns the times of stores' transactions up to now, in the order of commits.
  private func markTimes(
    from first: Int64, through last: Int64, countMax: Int64 = .max
  ) throws -> [(position: Int64, time: Int64)] {
    guard first <= last else { return [] }
    return try connection.rows(
      """
      SELECT position, c2
      FROM _ms_journal
      WHERE position BETWEEN \(first) AND \(last)
      AND \(JournalMark.isMark)
      AND typeof(c2) = 'integer' AND c2 <= \(now)
      ORDER BY position
      LIMIT \(countMax)
      """
    ) { row in (position: try row.integer(at: 0), time: try row.integer(at: 1)) }
  }

  /// Returns the last row up to `end` at which a step can end; nil if the step would remove
  /// nothing.
  private func wholeEnd(from lower: Int64, upTo end: Int64) throws -> Int64? {
    let wanted = try JournalReader.place(
      ofRow: stepRowCount, behind: lower - 1, upTo: end, on: connection)
    // The row after it may belong to the same transaction.
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

  /// A malformed commit record counts as a transaction of this single row.
  private func firstMark(behind position: Int64) throws -> Mark? {
    try connection.firstRow(
      """
      SELECT position, CASE WHEN typeof(c0) = 'integer' THEN min(c0, position) ELSE position END
      FROM _ms_journal
      WHERE position > \(position)
      AND \(JournalMark.isMark)
      ORDER BY position
      LIMIT 1
      """
    ) { row in Mark(position: try row.integer(at: 0), first: try row.integer(at: 1)) }
  }
}
