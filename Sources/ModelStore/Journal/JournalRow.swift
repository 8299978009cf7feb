/// One row of the change journal, as it stands in the file.
struct JournalRow {
  let position: Int64
  let layout: Int64
  let entry: Int64
  /// c0 and so on. A text that is not UTF-8 stands as a blob.
  let values: [SQLValue]
  /// The places in ``values`` of texts that are not UTF-8, which other programs can write.
  let malformed: Set<Int>

  /// - Throws: ``ColumnError`` for a row that no store writes.
  init(_ row: borrowing RowView) throws {
    position = try row.integer(at: 0)
    layout = try row.integer(at: 1)
    entry = try row.integer(at: 2)
    var values: [SQLValue] = []
    values.reserveCapacity(JournalLayout.columnCount)
    var malformed: Set<Int> = []
    for place in 0..<JournalLayout.columnCount {
      let value = try Self.value(row, at: 3 + place)
      values.append(value.content)
      if value.isMalformed { malformed.insert(place) }
    }
    self.values = values
    self.malformed = malformed
  }

  private static func value(
    _ row: borrowing RowView, at column: Int
  ) throws(ColumnError) -> (content: SQLValue, isMalformed: Bool) {
    do {
      return (try row.value(at: column), false)
    } catch {
      guard error.problem == .invalidUTF8, let bytes = row.textBytes(at: column) else {
        throw error
      }
      return (.blob(bytes), true)
    }
  }

  static let columns =
    "position, layout, entry, "
    + (0..<JournalLayout.columnCount).map { "c\($0)" }.joined(separator: ", ")
}

/// What the change journal tells of one thing that happened: one row or the parts of one record.
struct JournalEntry: Hashable, Sendable {
  enum Content: Hashable, Sendable {
    case record(LoggedRecord)
    /// The rows from `first` on, up to this one, are one transaction of a store.
    case transaction(JournalMark)
    /// From here on the changes of the layout's model are entered. Those before may not have been.
    case started(layout: Int64)
    /// From here on they are not.
    case stopped(layout: Int64)
  }

  /// Of its last row.
  let position: Int64
  /// Of its first row.
  let first: Int64
  let content: Content
}

/// What happened to one record, by the places of a layout.
struct LoggedRecord: Hashable, Sendable {
  let layout: Int64
  let kind: JournalCode.Kind
  let key: [SQLValue]
  /// For an insertion the new values of the layout's other fields, for a deletion the old ones;
  /// empty for an update and where only keys are kept.
  var image: [SQLValue] = []
  /// For an update, the changed ones of the other fields, ascending by their place.
  var changes: [Change] = []
  /// Which values are texts that are not UTF-8 and stand as blobs.
  var malformedTexts: Set<MalformedText> = []

  /// A place of a value.
  enum MalformedText: Hashable, Sendable {
    /// In ``JournalLayout/key``.
    case key(Int)
    /// In ``JournalLayout/others``.
    case old(Int)
    /// In ``JournalLayout/others``.
    case new(Int)
  }

  struct Change: Hashable, Sendable {
    /// In ``JournalLayout/others``.
    let place: Int
    let old: SQLValue
    let new: SQLValue
  }
}

/// Puts rows of the change journal together to entries.
///
/// Rows go in by position; an entry comes out when the row after its last one goes in, or at the
/// end.
struct JournalAssembly {
  let layouts: [Int64: JournalLayout]
  private var pending: (first: Int64, last: Int64, record: LoggedRecord)?

  init(layouts: [Int64: JournalLayout]) {
    self.layouts = layouts
  }

  /// - Throws: ``StoreError`` with code `journalGap` for a row that no trigger writes.
  mutating func take(_ row: JournalRow) throws(StoreError) -> [JournalEntry] {
    if row.layout == JournalLayout.journalNumber {
      return finish() + [try Self.ownEntry(row)]
    }
    guard let layout = layouts[row.layout], let code = JournalCode(row.entry) else {
      throw Self.damaged(row.position)
    }
    let key = Array(row.values[..<layout.key.count])
    if code.part > 0 {
      guard case .some((let first, let last, var record)) = pending, record.layout == row.layout,
        record.kind == code.kind, record.key == key, last == row.position - 1
      else { throw Self.damaged(row.position) }
      try Self.add(row, code, layout, to: &record)
      pending = (first, row.position, record)
      return []
    }
    let finished = finish()
    var record = LoggedRecord(layout: row.layout, kind: code.kind, key: key)
    try Self.add(row, code, layout, to: &record)
    pending = (row.position, row.position, record)
    return finished
  }

  /// The entry that waited for more rows, if any.
  mutating func finish() -> [JournalEntry] {
    defer { pending = nil }
    return pending.map { pending in
      [
        JournalEntry(
          position: pending.last, first: pending.first, content: .record(pending.record))
      ]
    } ?? []
  }

  private static func add(
    _ row: JournalRow, _ code: JournalCode, _ layout: JournalLayout, to record: inout LoggedRecord
  ) throws(StoreError) {
    let parts = code.kind == .update ? layout.updateParts : layout.imageParts
    guard parts.indices.contains(code.part) else { throw damaged(row.position) }
    let places = parts[code.part]
    let start = layout.key.count
    if !row.malformed.isEmpty {
      // Columns behind the part's own fields are NULL in every row that a trigger writes.
      let end = start + places.count * (code.kind == .update ? 2 : 1)
      guard row.malformed.allSatisfy({ $0 < end }) else { throw damaged(row.position) }
      record.malformedTexts.formUnion(
        row.malformed.map { place in
          guard place >= start else { return .key(place) }
          let (index, isNew) = (place - start).quotientAndRemainder(dividingBy: 2)
          switch code.kind {
          case .insert: return .new(places.lowerBound + place - start)
          case .delete: return .old(places.lowerBound + place - start)
          case .update:
            return isNew == 1 ? .new(places.lowerBound + index) : .old(places.lowerBound + index)
          }
        })
    }
    let values = Array(row.values[start...])
    if code.kind != .update {
      record.image += values.prefix(places.count)
      return
    }
    for (index, place) in places.enumerated() where code.mask >> Int64(index) & 1 == 1 {
      record.changes.append(
        LoggedRecord.Change(place: place, old: values[2 * index], new: values[2 * index + 1]))
    }
  }

  private static func ownEntry(_ row: JournalRow) throws(StoreError) -> JournalEntry {
    guard let kind = JournalMark.Kind(rawValue: row.entry) else { throw damaged(row.position) }
    let content: JournalEntry.Content? =
      switch (kind, row.values[0]) {
      case (.transaction, .integer): JournalMark(row).map { .transaction($0) }
      case (.started, .integer(let layout)): .started(layout: layout)
      case (.stopped, .integer(let layout)): .stopped(layout: layout)
      default: nil
      }
    guard let content else { throw damaged(row.position) }
    return JournalEntry(position: row.position, first: row.position, content: content)
  }

  static func damaged(_ position: Int64) -> StoreError {
    StoreError(
      .journalGap,
      "The change journal has a row at position \(position) that no store writes, so what it holds up to there cannot be told. Trim it beyond that row, without regard to consumers; the models' records are not concerned."
    )
  }
}
