/// How the records of one model stand in the rows of the change journal, under a number of its own.
///
/// A row begins with the record's key. What follows are the values of the other fields: one for
/// each in the row of an insertion or deletion; in that of an update two, old and new, where `mask`
/// has the field's bit, and otherwise two NULLs. A record with more fields than fit one row takes
/// several, each with the key, one directly behind the other; part 0 is always there.
///
/// A layout never changes. When a model's table does, its triggers get another layout.
struct JournalLayout: Hashable, Sendable, Codable {
  struct Field: Hashable, Sendable, Codable {
    let name: String
    let column: String
  }

  let model: String
  let table: String
  let detail: JournalDetail
  /// In key order.
  let key: [Field]
  /// The others, in field order.
  let others: [Field]

  /// How many columns of values a row has.
  static let columnCount = 12
  /// The most fields that a key may have: one value, old and new, must fit beside it.
  static let maxKeyCount = columnCount - 2
  /// The layout of rows about transactions and about the journal itself.
  static let journalNumber: Int64 = 0

  init(_ schema: ModelSchema, detail: JournalDetail) {
    func field(_ index: Int) -> Field {
      Field(name: schema.fields[index].name, column: schema.fields[index].column)
    }
    let keys = schema.keyIndices
    model = schema.name
    table = schema.table
    self.detail = detail
    key = keys.map(field)
    others = schema.fields.indices.filter { !keys.contains($0) }.map(field)
  }

  /// Why the journal cannot hold records of `schema`; nil when it can.
  static func refusal(of schema: ModelSchema) -> String? {
    if schema.kind == .view { return "it is a view, whose changes no trigger sees" }
    if ["new", "old"].contains(schema.table.asciiFolded) {
      return "triggers cannot speak of a table called \(schema.table)"
    }
    if schema.hasHiddenRowID {
      return "no column holds its key, the row number, which VACUUM may change"
    }
    if schema.key.count > maxKeyCount {
      return "its key has more than \(maxKeyCount) fields"
    }
    let otherCountMax = JournalCode.partCountMax * ((columnCount - schema.key.count) / 2)
    if schema.fields.count - schema.key.count > otherCountMax {
      return "it has more than \(otherCountMax) fields besides a key of \(schema.key.count)"
    }
    return nil
  }

  /// Whether rows of the journal can be in this layout.
  var isPossible: Bool {
    (1...Self.maxKeyCount).contains(key.count)
      && others.count <= JournalCode.partCountMax * ((Self.columnCount - key.count) / 2)
  }

  /// The places in ``others`` that stand in each row of an insertion or deletion.
  var imageParts: [Range<Int>] { parts(of: Self.columnCount - key.count) }

  /// The places in ``others`` that stand in each row of an update.
  var updateParts: [Range<Int>] { parts(of: (Self.columnCount - key.count) / 2) }

  /// For each of ``others``, where it is in the model now; nil for one that is gone.
  func places(in schema: ModelSchema) -> [Int?] {
    others.map { field in
      let column = field.column.asciiFolded
      return schema.fields.firstIndex { $0.column.asciiFolded.isExactly(column) }
    }
  }

  private func parts(of size: Int) -> [Range<Int>] {
    guard detail == .full, !others.isEmpty else { return [0..<0] }
    return stride(from: 0, to: others.count, by: size).map { start in
      start..<min(start + size, others.count)
    }
  }
}

/// The number that says what a row of the journal is about: what happened, which part of it the row
/// is and, for an update, which fields of that part changed.
struct JournalCode: Hashable, Sendable {
  /// What happened to a record.
  enum Kind: Int64, Hashable, Sendable {
    case insert = 1
    case update = 2
    case delete = 3
  }

  let kind: Kind
  let part: Int
  let mask: Int64

  /// The most parts of one entry.
  static let partCountMax = 1024
  private static let partUnit: Int64 = 4
  private static let maskUnit = partUnit * Int64(partCountMax)

  /// The number without the mask.
  static func number(_ kind: Kind, part: Int) -> Int64 {
    kind.rawValue + Int64(part) * partUnit
  }

  /// In SQL, whether a row's entry begins with it.
  static let isPart0 = "entry % \(maskUnit) < \(partUnit)"

  /// What a field adds that is at `index` of its part.
  static func unit(ofField index: Int) -> Int64 { maskUnit << Int64(index) }

  /// - Returns: nil for a number that no trigger of this library writes.
  init?(_ number: Int64) {
    guard number > 0, let kind = Kind(rawValue: number % Self.partUnit) else { return nil }
    self.kind = kind
    part = Int(number % Self.maskUnit / Self.partUnit)
    mask = number / Self.maskUnit
  }
}
