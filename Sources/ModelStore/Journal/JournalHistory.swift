/// A transaction in the journal, or changes of other programs between two transactions, or a part
/// of them.
struct LoggedTransaction {
  /// The positions of its rows, including the commit record.
  let positions: ClosedRange<Int64>
  /// The commit record; nil for changes of other programs.
  let mark: JournalMark?
  /// The entries, without the commit record.
  var entries: [JournalEntry]
}

/// Reads a file's change journal by transactions. Valid within one transaction of the connection.
struct JournalHistory {
  let reader: JournalReader
  /// The first and last position of the journal.
  let bounds: ClosedRange<Int64>

  var layouts: JournalLayouts { reader.layouts }

  /// - Returns: nil if the file has no journal, or the journal has no rows.
  /// - Throws: ``StoreError`` with code `journalGap` if a row is beyond
  ///   ``JournalReader/positionMax``, and `corrupt` if the rows are not in order.
  init?(reading connection: Connection) throws {
    guard let layouts = try JournalLayouts(reading: connection) else { return nil }
    if let newest = try JournalReader.newest(on: connection), newest > JournalReader.positionMax {
      throw JournalReader.unreachable(newest)
    }
    guard let bounds = try JournalReader.bounds(on: connection) else { return nil }
    reader = JournalReader(connection: connection, layouts: layouts)
    self.bounds = bounds
  }

  /// Checks that the journal still has everything after a position.
  ///
  /// - Throws: ``StoreError`` with code `journalTrimmed`.
  func checkReaches(back position: Int64) throws(StoreError) {
    guard position < bounds.lowerBound - 1 else { return }
    throw StoreError(
      .journalTrimmed,
      "The change journal was trimmed: its entries after position \(position) were removed up to position \(bounds.lowerBound - 1), so they can no longer be read or undone. Reload from the tables, then continue after position \(bounds.lowerBound - 1)."
    )
  }

  /// The approximate row count of a part of other programs' changes. It bounds the memory for
  /// reading them.
  static let foreignRowCountMax: Int64 = 4096

  /// Calls `body` with each transaction that ends after `start` and at or before `end`, oldest
  /// first, until `body` returns false. A store's transaction is complete even if it begins before
  /// `start`.
  ///
  /// - Parameter wanted: Whether to read the entries of a transaction; the others are skipped.
  func forEach(
    after start: Int64, through end: Int64, where wanted: (JournalMark?) -> Bool = { _ in true },
    _ body: (LoggedTransaction) throws -> Bool
  ) throws {
    let start = try beginning(of: min(max(start, bounds.lowerBound - 1), bounds.upperBound))
    let end = try ending(of: min(end, bounds.upperBound))
    guard start < end else { return }
    let wantsForeign = wanted(nil)
    // Everything before the first row of the next store's transaction is foreign.
    var next = try nextMark(after: start)
    var wantsNext = wanted(next?.mark)
    var first = start + 1
    var entries: [JournalEntry] = []
    func tellForeign(through last: Int64) throws -> Bool {
      guard first <= last else { return true }
      defer {
        first = last + 1
        entries = []
      }
      return try !wantsForeign
        || body(LoggedTransaction(positions: first...last, mark: nil, entries: entries))
    }
    var continues = true
    var last = start
    try reader.forEachEntry(after: start, through: end) { entry in
      last = entry.position
      let own = next.map { $0.mark.first } ?? .max
      if entry.position < own {
        if wantsForeign { entries.append(entry) }
        if entry.position - first >= Self.foreignRowCountMax - 1 {
          continues = try tellForeign(through: entry.position)
        }
        return continues
      }
      continues = try tellForeign(through: own - 1)
      guard case .transaction(let mark) = entry.content else {
        if continues, wantsNext { entries.append(entry) }
        return continues
      }
      if continues, wantsNext {
        // A transaction that began before `start` was not read from its first row.
        continues = try body(
          LoggedTransaction(
            positions: mark.first...entry.position, mark: mark,
            entries: mark.first > start ? entries : self.entries(of: mark, at: entry.position)))
      }
      first = entry.position + 1
      entries = []
      next = try nextMark(after: entry.position)
      wantsNext = wanted(next?.mark)
      return continues
    }
    if continues { try checkReach(through: end, last) }
    // The last rows may be the beginning of a transaction that ends later.
    if continues { _ = try tellForeign(through: min(end, (next?.mark.first ?? .max) - 1)) }
  }

  /// Reads every row.
  ///
  /// - Throws: The ``StoreError`` at which reading all transactions stops.
  func check() throws {
    try forEach(
      after: bounds.lowerBound - 1, through: bounds.upperBound, where: { _ in false },
      { _ in true })
  }

  /// Calls `body` with each transaction that ends before `limit`, newest first, until it returns
  /// false or the journal begins.
  ///
  /// - Parameter wanted: Whether to read the entries of a transaction; the others are skipped.
  func forEachNewestFirst(
    before limit: Int64, where wanted: (JournalMark?) -> Bool = { _ in true },
    _ body: (LoggedTransaction) throws -> Bool
  ) throws {
    var cursor = min(max(limit, bounds.lowerBound) - 1, bounds.upperBound)
    if cursor < bounds.upperBound {
      cursor = try beginning(of: cursor)
      if let next = try nextMark(after: cursor) { cursor = min(cursor, next.mark.first - 1) }
    }
    while cursor >= bounds.lowerBound {
      let found = try lastMark(through: cursor)
      let mark = found.flatMap { $0.position == cursor ? $0.mark : nil }
      var before = mark.map { $0.first - 1 } ?? found?.position ?? bounds.lowerBound - 1
      if mark == nil, cursor - before > Self.foreignRowCountMax {
        before = try foreignStart(before: cursor, after: before)
      }
      guard before < cursor else { throw JournalAssembly.damaged(cursor) }
      if wanted(mark) {
        let end = mark == nil ? cursor + 1 : cursor
        let transaction = LoggedTransaction(
          positions: before + 1...cursor, mark: mark, entries: try entries(in: before + 1..<end))
        guard try body(transaction) else { return }
      }
      cursor = before
    }
  }

  /// Returns the transaction called `id`; nil if it is not in the journal.
  func transaction(_ id: TransactionID) throws -> LoggedTransaction? {
    try mark(of: id).map { position, mark in
      LoggedTransaction(
        positions: mark.first...position, mark: mark, entries: try entries(of: mark, at: position))
    }
  }

  /// Returns the entries of a transaction whose commit record is at `position`.
  ///
  /// - Throws: ``StoreError`` with code `journalGap` if it claims rows of an earlier transaction.
  ///   Without this check, many such rows would each cause a read of the whole journal.
  private func entries(of mark: JournalMark, at position: Int64) throws -> [JournalEntry] {
    if let earlier = try lastMark(through: position - 1), earlier.position >= mark.first {
      throw JournalAssembly.damaged(position)
    }
    return try entries(in: mark.first..<position)
  }

  /// Returns the first of about ``foreignRowCountMax`` rows that end at `cursor`, not before
  /// `start`.
  private func foreignStart(before cursor: Int64, after start: Int64) throws -> Int64 {
    let oldest = try reader.connection.firstRow(
      """
      SELECT position
      FROM _ms_journal
      WHERE position <= \(cursor) AND position > \(start)
      ORDER BY position DESC
      LIMIT 1 OFFSET \(Self.foreignRowCountMax)
      """
    ) { row in try row.integer(at: 0) }
    guard let oldest else { return start }
    guard oldest > start, oldest <= cursor else { throw JournalReader.disordered(oldest) }
    return max(start, try beginning(of: oldest))
  }

  /// Returns the commit record of the transaction called `id`.
  ///
  /// - Complexity: O(rows of the transaction) if the id contains its position, otherwise O(commit
  ///   records).
  func mark(of id: TransactionID) throws -> (position: Int64, mark: JournalMark)? {
    if let first = id.first {
      // The next commit after that position is the transaction, or it took the position of the
      // transaction.
      let next = try nextMark(after: first - 1)
      return next.flatMap { $0.mark.id == id ? $0 : nil }
    }
    return try markRow("c1 = \(id.rawValue)", "ASC")
  }

  /// Returns the entries whose rows are in `positions`.
  func entries(in positions: Range<Int64>) throws -> [JournalEntry] {
    var entries: [JournalEntry] = []
    guard !positions.isEmpty else { return [] }
    let end = positions.upperBound - 1
    try reader.forEachEntry(after: positions.lowerBound - 1, through: end) {
      entries.append($0)
      return true
    }
    try checkReach(through: end, entries.last?.position ?? positions.lowerBound - 1)
    return entries
  }

  /// Checks that reading up to the newest row reached it. A row with a too high position hides the
  /// rows after it.
  ///
  /// - Parameter last: The position of the last row that was read.
  private func checkReach(through end: Int64, _ last: Int64) throws(StoreError) {
    if end == bounds.upperBound, last != end { throw JournalReader.disordered(last) }
  }

  /// Returns the next commit record after `position`.
  func nextMark(after position: Int64) throws -> (position: Int64, mark: JournalMark)? {
    let found = try markRow("position > \(position)", "ASC")
    // A damaged index can lead to a row outside of the requested range.
    if let found, found.position <= position { throw JournalReader.disordered(found.position) }
    return found
  }

  /// Returns the last commit record at or before `position`.
  func lastMark(through position: Int64) throws -> (position: Int64, mark: JournalMark)? {
    let found = try markRow("position <= \(position)", "DESC")
    if let found, found.position > position { throw JournalReader.disordered(found.position) }
    return found
  }

  /// The parts of a commit record that decide whether its transaction can be undone or redone.
  struct MarkOutline {
    let id: TransactionID
    /// The first transaction of the chain of undos and redos; nil for a transaction that undid
    /// nothing.
    let origin: TransactionID?
    /// Whether the origin is undone after it.
    let isUndo: Bool
    /// Whether it has the requested program and author.
    let isOwn: Bool
  }

  /// Returns the newest matching commit record of a transaction that recorded changes or undid
  /// another.
  ///
  /// - Parameter author: nil for any author.
  /// - Complexity: Reads commit records backwards from the end of the journal.
  func newestMark(
    of program: String, _ author: String?, where wanted: (MarkOutline) -> Bool
  ) throws -> MarkOutline? {
    let author = author.map { SQLValue.text($0) } ?? .null
    let text: SQLText = """
      SELECT c1, c8, c9, c3 = \(program) AND (\(author) IS NULL OR c5 IS \(author))
      FROM _ms_journal
      WHERE \(JournalMark.isMark) AND (c0 < position OR c8 IS NOT NULL)
      ORDER BY position DESC
      """
    return try reader.connection.withStatement(text.sql) { statement in
      try statement.bind(text)
      while try statement.step() {
        let row = RowView(statement: statement.handle)
        let isReversal = !row.isNull(at: 1)
        let mark = MarkOutline(
          id: TransactionID(rawValue: try row.integer(at: 0)),
          origin: isReversal ? TransactionID(rawValue: try row.integer(at: 1)) : nil,
          isUndo: try isReversal && row.integer(at: 2) % 2 == 1,
          isOwn: try row.integer(at: 3) == 1)
        if wanted(mark) { return mark }
      }
      return nil
    }
  }

  private func markRow(
    _ condition: SQLText, _ direction: String
  ) throws -> (position: Int64, mark: JournalMark)? {
    let text: SQLText = """
      SELECT \(SQLText(sql: JournalRow.columns))
      FROM _ms_journal
      WHERE \(condition) AND \(JournalMark.isMark)
      ORDER BY position \(SQLText(sql: direction))
      LIMIT 1
      """
    let row = try reader.connection.firstRow(text) { try JournalRow($0) }
    return row.flatMap { row in JournalMark(row).map { (row.position, $0) } }
  }

  /// Returns `position`, or the position before the entry if `position` is a row of it but not the
  /// last.
  private func beginning(of position: Int64) throws -> Int64 {
    var place = position
    while place >= bounds.lowerBound, position - place < Self.partCountMax,
      try isContinuation(place + 1)
    { place -= 1 }
    return place
  }

  /// Returns the position of the last row of the entry at `position`.
  func ending(of position: Int64) throws -> Int64 {
    var place = position
    while place < bounds.upperBound, place - position < Self.partCountMax,
      try isContinuation(place + 1)
    { place += 1 }
    return place
  }

  /// The most rows of an entry, also if another program wrote them.
  private static let partCountMax = Int64(JournalCode.partCountMax)

  /// Whether the row at `position` belongs to the entry before it.
  private func isContinuation(_ position: Int64) throws -> Bool {
    let code = try reader.connection.firstRow(
      """
      SELECT entry
      FROM _ms_journal
      WHERE position = \(position) AND layout <> \(JournalLayout.journalNumber)
      """
    ) { try $0.integer(at: 0) }
    return code.flatMap { JournalCode($0) }.map { $0.part > 0 } ?? false
  }
}
