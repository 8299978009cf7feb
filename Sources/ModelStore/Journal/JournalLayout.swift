/// The format in which the journal stores the records of a model, under its own number.
///
/// A row begins with the record's key. The values of the other fields follow:
///
/// - An insertion or deletion has one value for each field.
/// - An update has two values for each field: the old and the new value if `mask` has the field's
///   bit, otherwise two NULLs.
///
/// A record with many fields takes several consecutive rows, each with the key. Part 0 always
/// exists.
///
/// What rows hold under a layout never changes. If a model's table changes, its triggers use
/// another layout. If only names change, all layouts of the model get the new ones, so the entries
/// before and after belong together.
struct JournalLayout: Hashable, Sendable, Codable {
  struct Field: Hashable, Sendable, Codable {
    var name: String
    var column: String
  }

  private(set) var model: String
  private(set) var table: String
  let detail: JournalDetail
  /// The key fields, in key order.
  private(set) var key: [Field]
  /// The other fields, in field order.
  private(set) var others: [Field]

  /// The number of value columns in a row.
  static let columnCount = 12
  /// The most fields in a key. The old and the new value of one field must fit next to it.
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

  /// Returns the reason why the journal cannot record `schema`; nil if it can.
  static func refusal(of schema: ModelSchema) -> String? {
    if schema.kind == .view {
      return "it is a view, and triggers do not fire for the changes of a view"
    }
    if ["new", "old"].contains(schema.table.asciiFolded) {
      return "triggers cannot refer to a table called \(schema.table)"
    }
    if schema.hasHiddenRowID {
      return "its key is the row number, which no column stores and which VACUUM may change"
    }
    if schema.key.count > maxKeyCount {
      return "its key has more than \(maxKeyCount) fields"
    }
    let otherCountMax = JournalCode.partCountMax * ((columnCount - schema.key.count) / 2)
    if schema.fields.count - schema.key.count > otherCountMax {
      return "it has more than \(otherCountMax) fields in addition to a key of \(schema.key.count)"
    }
    return nil
  }

  /// Whether rows of the journal can have this layout.
  var isPossible: Bool {
    (1...Self.maxKeyCount).contains(key.count)
      && others.count <= JournalCode.partCountMax * ((Self.columnCount - key.count) / 2)
  }

  /// The ranges of ``others`` that each row of an insertion or deletion contains.
  var imageParts: [Range<Int>] { parts(of: Self.columnCount - key.count) }

  /// The ranges of ``others`` that each row of an update contains.
  var updateParts: [Range<Int>] { parts(of: (Self.columnCount - key.count) / 2) }

  /// For each of ``others``, its index in the current model; nil for a removed field.
  func places(in schema: ModelSchema) -> [Int?] {
    others.map { field in
      let column = field.column.asciiFolded
      return schema.fields.firstIndex { $0.column.asciiFolded.isExactly(column) }
    }
  }

  /// Returns the layout with the new names of its model.
  ///
  /// A field that the model has lost before may have the new name of another field. The layout then
  /// calls it a former field, because its values do not belong to the other one.
  ///
  /// - Precondition: The layout is one of `pair.old`.
  func renamed(by pair: ModelRenaming.Pair) -> JournalLayout {
    let places = Dictionary(
      pair.old.fields.enumerated().map { (ExactText($1.column.asciiFolded), $0) }
    ) { first, _ in first }
    let taken = Set(pair.new.fields.map { ExactText($0.column.asciiFolded) })
    func renamed(_ field: Field) -> Field {
      let column = ExactText(field.column.asciiFolded)
      if let place = places[column] {
        let new = pair.new.fields[place]
        return Field(name: new.name, column: new.column)
      }
      return taken.contains(column)
        ? Field(name: Self.former(field.name), column: Self.former(field.column)) : field
    }
    var layout = self
    layout.model = pair.new.name
    layout.table = pair.new.table
    layout.key = key.map(renamed)
    layout.others = others.map(renamed)
    return layout
  }

  /// Returns the layout of a removed model whose name another model has taken.
  var displaced: JournalLayout {
    var layout = self
    layout.model = Self.former(model)
    return layout
  }

  private static func former(_ name: String) -> String { "\(name) (former)" }

  private func parts(of size: Int) -> [Range<Int>] {
    guard detail == .full, !others.isEmpty else { return [0..<0] }
    return stride(from: 0, to: others.count, by: size).map { start in
      start..<min(start + size, others.count)
    }
  }
}

/// The code of a journal row: the operation, the part of the entry and, for an update, the changed
/// fields of that part.
struct JournalCode: Hashable, Sendable {
  /// The operation on a record.
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

  /// Returns the number without the mask.
  static func number(_ kind: Kind, part: Int) -> Int64 {
    kind.rawValue + Int64(part) * partUnit
  }

  /// The SQL condition that a row begins an entry.
  static let isPart0 = "entry % \(maskUnit) < \(partUnit)"

  /// Returns the bit of the field at `index` of its part.
  static func unit(ofField index: Int) -> Int64 { maskUnit << Int64(index) }

  /// - Returns: nil for a number that no trigger of this library writes.
  init?(_ number: Int64) {
    guard number > 0, let kind = Kind(rawValue: number % Self.partUnit) else { return nil }
    self.kind = kind
    part = Int(number % Self.maskUnit / Self.partUnit)
    mask = number / Self.maskUnit
  }
}
