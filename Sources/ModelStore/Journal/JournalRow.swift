/// One row of the change journal, as stored in the file.
struct JournalRow {
  let position: Int64
  let layout: Int64
  let entry: Int64
  /// The values of c0, c1 and so on. A text that is not UTF-8 is a blob here.
  let values: [SQLValue]
  /// The indices in ``values`` of texts that are not UTF-8, which other programs can write.
  let malformed: Set<Int>

  /// - Throws: ``ColumnError`` for a row that a store cannot write.
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

/// One event in the change journal: a single row, or all parts of one record's change.
struct JournalEntry: Hashable, Sendable {
  enum Content: Hashable, Sendable {
    case record(LoggedRecord)
    /// The rows from `first` to this row are one transaction of a store.
    case transaction(JournalMark)
    /// From here on, changes of the layout's model are recorded. Earlier changes may be missing.
    case started(layout: Int64)
    /// As ``started(layout:)``, but nothing is missing: the model had no records, and nothing was
    /// recorded before; see ``JournalEditor/unbegun(_:on:)``.
    case began(layout: Int64)
    /// From here on, changes of the layout's model are not recorded.
    case stopped(layout: Int64)
  }

  /// The position of its last row.
  let position: Int64
  /// The position of its first row.
  let first: Int64
  let content: Content
}

/// The change of one record, with values at the indices of a layout.
struct LoggedRecord: Hashable, Sendable {
  let layout: Int64
  let kind: JournalCode.Kind
  let key: [SQLValue]
  /// The new values of the layout's other fields for an insertion, the old values for a deletion.
  /// Empty for an update, and if only keys are recorded.
  var image: [SQLValue] = []
  /// For an update, the changed fields, in ascending order of their index.
  var changes: [Change] = []
  /// The values that are texts but not UTF-8, and are blobs here.
  var malformedTexts: Set<MalformedText> = []

  /// The location of such a value.
  enum MalformedText: Hashable, Sendable {
    /// The index in ``JournalLayout/key``.
    case key(Int)
    /// The index in ``JournalLayout/others``.
    case old(Int)
    /// The index in ``JournalLayout/others``.
    case new(Int)
  }

  struct Change: Hashable, Sendable {
    /// The index in ``JournalLayout/others``.
    let place: Int
    let old: SQLValue
    let new: SQLValue
  }
}

/// Combines rows of the change journal into entries.
///
/// Add the rows in order of position. An entry is returned when the row after its last row is
/// added, or at the end.
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

  /// Returns the entry that was waiting for more rows, if any.
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
      // Columns after the part's own fields are NULL in every row that a trigger writes.
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
      case (.started, .integer(let layout)):
        row.values[1] == .integer(1) ? .began(layout: layout) : .started(layout: layout)
      case (.stopped, .integer(let layout)): .stopped(layout: layout)
      default: nil
      }
    guard let content else { throw damaged(row.position) }
    return JournalEntry(position: row.position, first: row.position, content: content)
  }

  static func damaged(_ position: Int64) -> StoreError {
    StoreError(
      .journalGap,
      "The change journal has a malformed row at position \(position), so the changes up to there cannot be decoded. Trim the journal past that row, without regard to consumers; the models' records are not affected."
    )
  }
}
