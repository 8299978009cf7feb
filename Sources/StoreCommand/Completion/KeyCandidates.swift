import ModelStore

/// The keys of a model's records that begin with a text. They are found in the index of the key, so
/// the time does not depend on how many records there are.
struct KeyCandidates {
  /// How many keys a shell offers: the first, in the order of keys.
  static let countMax = 100

  private let schema: ModelSchema
  private let fields: [FieldSchema]

  init(of schema: ModelSchema) {
    self.schema = schema
    fields = schema.kind == .view ? [] : schema.keyIndices.map { schema.fields[$0] }
  }

  /// Returns the keys as ``KeyText`` writes them.
  func beginning(with text: String, _ reads: borrowing ReadTransaction) throws -> [String] {
    var found: [String] = []
    for statement in try statements(beginningWith: text) {
      for row in try reads.rows(statement) {
        let key = KeyText.text(row.values)
        if key.utf8.starts(with: text.utf8), !found.contains(key) { found.append(key) }
      }
      if found.count >= Self.countMax { break }
    }
    return Array(found.prefix(Self.countMax))
  }

  /// Returns the statements that find the keys, one after the other. Each reads one range of the
  /// index.
  func statements(beginningWith text: String) throws -> [SQLText] {
    guard let query = try self.query(beginningWith: text) else { return [] }
    return Self.ranges(of: query.last, beginningWith: query.text).map { range in
      var query = query
      if let range { query.add(range) }
      query.start.append(" ORDER BY \(columns) LIMIT \(Self.countMax)")
      return query.start
    }
  }

  private struct Query {
    var start: SQLText
    var hasCondition = false
    /// The field that the text is about, and the text.
    let last: FieldSchema
    let text: String

    /// Adds a condition.
    mutating func add(_ condition: SQLText) {
      start.append(sql: hasCondition ? " AND " : " WHERE ")
      start.append(condition)
      hasCondition = true
    }
  }

  /// The columns of the key.
  private var columns: SQLText {
    var text: SQLText = ""
    for (place, field) in fields.enumerated() {
      text.append(place == 0 ? "\(identifier: field.column)" : ", \(identifier: field.column)")
    }
    return text
  }

  /// Selects the keys whose first values are given; nil if no key begins so.
  private func query(beginningWith text: String) throws -> Query? {
    // The text of one field may have commas. A value in quotes is not completed.
    let parts = fields.count > 1 ? CommaList(text).texts : [text]
    guard parts.count <= fields.count, fields.count == 1 || !text.contains("\"") else {
      return nil
    }
    var query = Query(
      start: "SELECT \(columns) FROM \(identifier: schema.table)", last: fields[parts.count - 1],
      text: parts[parts.count - 1])
    for (field, given) in zip(fields, parts.dropLast()) {
      query.add("\(identifier: field.column) = \(try field.parse(given))")
    }
    return query
  }

  /// The conditions for values whose text begins with `text`, in their order; nil for no condition.
  private static func ranges(of field: FieldSchema, beginningWith text: String) -> [SQLText?] {
    guard !text.isEmpty else { return [nil] }
    let column: SQLText = "\(identifier: field.column)"
    let numbers: [SQLText?] = wholeNumbers(beginningWith: text)
      .map { "\(column) BETWEEN \($0.lowerBound) AND \($0.upperBound)" }
    let end = text + "\u{10FFFF}"
    let texts: SQLText = "\(column) >= \(text) AND \(column) < \(end)"
    return switch field.type {
    case .integer, .boolean: numbers
    case .text, .uuid, .url, .json: [texts]
    case .real, .blob, .date, .decimal, .any: numbers + [texts]
    }
  }

  /// The ranges of the whole numbers that are written with these digits first: for `12`, 12, 120 to
  /// 129, 1200 to 1299 and so on.
  static func wholeNumbers(beginningWith text: String) -> [ClosedRange<Int64>] {
    let digits = text.drop { $0 == "-" }
    let isNegative = text.hasPrefix("-")
    guard text.count - digits.count <= 1, digits.utf8.allSatisfy({ (0x30...0x39).contains($0) })
    else { return [] }
    guard !digits.isEmpty else { return [.min...(-1)] }
    guard var low = Int64(digits), digits.first != "0" || digits == "0" && !isNegative else {
      return []
    }
    var high = low
    var found: [ClosedRange<Int64>] = []
    while true {
      found.append(isNegative ? -high...(-low) : low...high)
      let (nextLow, isBeyond) = low.multipliedReportingOverflow(by: 10)
      guard low > 0, !isBeyond else { return found }
      let (nextHigh, isCut) = high.multipliedReportingOverflow(by: 10)
      low = nextLow
      high = isCut || nextHigh > .max - 9 ? .max : nextHigh + 9
    }
  }
}
