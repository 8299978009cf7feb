import ModelStore

/// Records that were read and are written together, with one statement.
struct GatheredRecords {
  typealias Item = Importing.Item

  /// As many records as a statement inserts.
  static let countMax = RowInsertion.rowCount

  private(set) var items: [Item] = []
  private var rows: [[SQLValue]] = []
  /// The bytes of their texts and blobs.
  private var byteCount = 0
  private var fields: InputFields?
  private var source = 0
  /// The statement for the records of the source and the fields for which it was made last; nil if
  /// they take a statement each.
  private var made: (source: Int, fields: InputFields, insertion: RowInsertion?)?

  /// Whether the records are to be written before another is added.
  var isFull: Bool { items.count == Self.countMax || byteCount > RowInsertion.maxByteCount }

  /// Returns whether `record` has the same fields of the same model as the records gathered so far.
  func isAlike(_ record: InputRecord, of source: Int) -> Bool {
    items.isEmpty || fields === record.fields && self.source == source
  }

  mutating func add(_ item: Item, _ record: InputRecord) {
    fields = record.fields
    source = item.source
    items.append(item)
    rows.append(record.row)
    for value in record.row {
      switch value {
      case .text(let text): byteCount += text.utf8.count
      case .blob(let bytes): byteCount += bytes.count
      case .null, .integer, .real: break
      }
    }
  }

  /// Takes the records out.
  mutating func removeAll() -> [Item] {
    defer {
      items.removeAll(keepingCapacity: true)
      rows.removeAll(keepingCapacity: true)
      byteCount = 0
    }
    return items
  }

  /// Writes the records with one statement.
  ///
  /// - Parameter defersReferences: Whether references are checked at the end of the transaction.
  /// - Returns: false if nothing was written. Each record then takes a statement of its own.
  mutating func write(
    into schema: ModelSchema, defersReferences: Bool, _ transaction: borrowing WriteTransaction
  ) throws -> Bool {
    guard let fields else { return false }
    if made?.source != source || made?.fields !== fields {
      let insertion = try transaction.rowInsertion(
        of: fields.places, into: schema, defersReferences: defersReferences)
      made = (source, fields, insertion)
    }
    guard let insertion = made?.insertion, rows.count == RowInsertion.rowCount else { return false }
    return try transaction.insert(rows, by: insertion)
  }
}
