import ModelStore
import RecordFormats

/// Aggregates over the records of a model that meet a predicate, for all of them together or for
/// each group.
///
/// SQLite computes everything except aggregates of decimals, which it would round. These are
/// computed here, exactly.
struct GroupedQuery {
  let records: StoreQuery<DynamicRecord>
  let keys: [GroupKey]
  let aggregates: [Aggregate]
  /// The columns that decide the order, before the keys.
  private let order: [Term]

  private struct Term {
    let column: Int
    let isDescending: Bool
  }

  /// - Parameter sort: Names of columns of the result, `-` before a name for descending.
  /// - Throws: ``CommandError`` for a name that is not a column, with near misses.
  init(
    _ records: StoreQuery<DynamicRecord>, by keys: [GroupKey], _ aggregates: [Aggregate],
    sort: String?
  ) throws {
    self.records = records
    self.keys = keys
    self.aggregates = aggregates
    let names = (keys.map(\.column) + aggregates.map(\.column)).map(\.name)
    order = try (sort.map { CommaList($0).texts } ?? []).map { word in
      let isDescending = word.hasPrefix("-") && !names.contains(word)
      let name = isDescending ? String(word.dropFirst()) : word
      let column =
        names.firstIndex(of: name) ?? names.firstIndex(of: name.replacing(":", with: "_"))
      guard let column else {
        throw CommandError.usage(
          "The groups have no column \(name)"
            + CommandError.meant(NearMiss.suggestions(for: name, among: names)),
          hint: "--sort takes \(names.joined(separator: ", "))", model: records.schema.name,
          field: name)
      }
      return Term(column: column, isDescending: isDescending)
    }
  }

  var columns: [OutputColumn] { keys.map(\.column) + aggregates.map(\.column) }

  /// The cells of one group.
  func row(of values: [SQLValue]) -> [CellValue] {
    zip(keys, values).map { $0.cell(of: $1) }
      + zip(aggregates, values.dropFirst(keys.count)).map { $0.cell(of: $1) }
  }

  private var needsDecimals: Bool { aggregates.contains(where: \.isDecimal) }

  /// The statement for the groups, in their order.
  func text(
    limit: Int? = nil, offset: Int = 0, adding addition: Aggregate.Addition = .direct
  ) throws -> SQLText {
    let expressions = keys.map(\.sql) + aggregates.map { $0.sql(addition) }
    var text = try records.source(selecting: expressions.joined(separator: ", "))
    guard !keys.isEmpty else { return text }
    let places = (1...keys.count).map(String.init)
    text.append(SQLText(sql: "\nGROUP BY \(places.joined(separator: ", "))"))
    // Decimals are not computed yet, so the rows are sorted later.
    let terms = needsDecimals ? [] : order
    let ordered = terms.map { "\($0.column + 1)" + ($0.isDescending ? " DESC" : "") }
    text.append(SQLText(sql: "\nORDER BY \((ordered + places).joined(separator: ", "))"))
    if !needsDecimals, limit != nil || offset > 0 {
      text.append("\nLIMIT \(Int64(limit ?? -1)) OFFSET \(Int64(offset))")
    }
    return text
  }

  /// Calls `body` with the values of each group, in their order.
  ///
  /// - Throws: ``CommandError`` for a sum outside 64 bits, and for values that are no numbers or
  ///   have no period.
  func forEachGroup(
    limit: Int?, offset: Int, _ reads: borrowing ReadTransaction,
    _ body: ([SQLValue]) throws -> Void
  ) throws {
    try checkValues(reads)
    var count = 0
    for addition in [Aggregate.Addition.direct, .halves] {
      do {
        // The groups before the one that failed are not repeated.
        return try forEachGroup(
          limit: limit.map { $0 - count }, offset: offset + count, adding: addition, reads
        ) { group in
          try body(group)
          count += 1
        }
      } catch let error as StoreError where error.message.contains("integer overflow") {
        continue
      }
    }
    throw overflow
  }

  private func forEachGroup(
    limit: Int?, offset: Int, adding addition: Aggregate.Addition,
    _ reads: borrowing ReadTransaction, _ body: ([SQLValue]) throws -> Void
  ) throws {
    let text = try text(limit: limit, offset: offset, adding: addition)
    guard needsDecimals else { return try reads.forEachRow(text) { try body($0.values) } }
    var groups = try reads.rows(text).map(\.values)
    try fillDecimals(in: &groups, reads)
    sort(&groups)
    for group in groups.dropFirst(offset).prefix(limit ?? .max) { try body(group) }
  }

  private var overflow: CommandError {
    let sums = aggregates.compactMap(\.calculation).filter { $0.function == .sum }
      .map { "\(records.schema.name).\($0.field.name)" }
    return CommandError(
      .failed, code: "overflow",
      "A sum of \(sums.joined(separator: " or ")) does not fit 64 bits.",
      hint: "use --avg, or select fewer records", model: records.schema.name)
  }

  /// Refuses values that SQLite would count as 0, and dates without a period.
  private func checkValues(_ reads: borrowing ReadTransaction) throws {
    var checks: [(field: FieldSchema, sql: String, one: String, several: String)] = []
    for aggregate in aggregates where aggregate.needsNumbers {
      guard let field = aggregate.calculation?.field else { continue }
      let column = SQLText.quoted(field.column)
      checks.append(
        (field, "typeof(\(column)) IN ('text', 'blob')", "is not a number", "are not numbers"))
    }
    for key in keys {
      guard let period = key.period, let sql = period.expression(for: key.field) else { continue }
      let column = SQLText.quoted(key.field.column)
      let name = period.rawValue
      checks.append(
        (key.field, "\(column) IS NOT NULL AND \(sql) IS NULL", "has no \(name)", "have no \(name)")
      )
    }
    guard !checks.isEmpty else { return }
    let counts = checks.map { "total(\($0.sql))" }.joined(separator: ", ")
    let row = try reads.rows(try records.source(selecting: counts)).first
    for (check, value) in zip(checks, row?.values ?? []) {
      guard case .real(let count) = value, count > 0 else { continue }
      throw CommandError(
        .failed, code: "unreadable",
        "\(Grouped.text(Int(count), "value")) of \(records.schema.name).\(check.field.name) "
          + "\(count == 1 ? check.one : check.several).",
        hint: "leave them out with --where, or run storecli validate "
          + Shell.quoted(records.schema.name),
        model: records.schema.name, field: check.field.name)
    }
  }

  /// Computes the aggregates of decimals, from how often each group has each value.
  private func fillDecimals(
    in groups: inout [[SQLValue]], _ reads: borrowing ReadTransaction
  ) throws {
    var totals: [[SQLValue]: DecimalTotals] = [:]
    for field in Set(aggregates.filter(\.isDecimal).compactMap { $0.calculation?.field }) {
      totals.removeAll()
      let column = SQLText.quoted(field.column)
      let expressions = keys.map(\.sql) + [column, "count(*)"]
      var text = try records.source(selecting: expressions.joined(separator: ", "))
      let places = (1...(keys.count + 1)).map(String.init).joined(separator: ", ")
      text.append(SQLText(sql: "\nGROUP BY \(places)"))
      try reads.forEachRow(text) { row in
        guard case .integer(let count) = row.values[keys.count + 1] else { return }
        let value = row.values[keys.count]
        guard !value.isNull else { return }
        guard let number = Self.decimal(value) else {
          throw CommandError(
            .failed, code: "unreadable",
            "\(records.schema.name).\(field.name) holds \(CellText.display(CellValue(value))), "
              + "which is not a decimal.",
            hint: "storecli validate \(Shell.quoted(records.schema.name))",
            model: records.schema.name, field: field.name)
        }
        let group = row.values.prefix(keys.count).map(Self.grouped)
        totals[group, default: DecimalTotals()].add(number, value, times: count)
      }
      for (place, aggregate) in aggregates.enumerated() {
        guard let calculation = aggregate.calculation, calculation.field == field else { continue }
        for index in groups.indices {
          let found = totals[groups[index].prefix(keys.count).map(Self.grouped)]
          groups[index][keys.count + place] =
            try found.map { try value(of: calculation, $0) } ?? .null
        }
      }
    }
  }

  private static func decimal(_ value: SQLValue) -> ExactDecimal? {
    switch value {
    case .text(let digits): ExactDecimal(digits)
    case .integer(let number): ExactDecimal(String(number))
    case .real(let number): ExactDecimal(number)
    case .null, .blob: nil
    }
  }

  /// The value of an aggregate: a text for decimals that are stored as texts, else a number.
  private func value(
    of calculation: Aggregate.Calculation, _ totals: DecimalTotals
  ) throws -> SQLValue {
    let value = totals.value(of: calculation.function)
    guard calculation.field.type != .decimal, case .text(let digits) = value else { return value }
    // Rounded once, at the end.
    if calculation.function == .avg || totals.hasReal {
      return Double(digits).map { .real($0) } ?? .null
    }
    guard let number = Int64(digits) else { throw overflow }
    return .integer(number)
  }

  /// Numbers that SQLite groups together as one value.
  private static func grouped(_ value: SQLValue) -> SQLValue {
    guard case .real(let number) = value, let whole = Int64(exactly: number) else { return value }
    return .integer(whole)
  }

  /// Sorts by the order's terms, and keeps the order of the keys among equals.
  private func sort(_ groups: inout [[SQLValue]]) {
    guard !order.isEmpty, let comparison = ValueOrder(.binary) else { return }
    func compare(_ left: [SQLValue], _ right: [SQLValue]) -> Int {
      for term in order {
        let (first, second) = (left[term.column], right[term.column])
        let result =
          isDecimal(term.column)
          ? Self.compareDecimals(first, second) : comparison.compare(first, second)
        if result != 0 { return term.isDescending ? -result : result }
      }
      return 0
    }
    groups = groups.enumerated().sorted { left, right in
      let result = compare(left.element, right.element)
      return result != 0 ? result < 0 : left.offset < right.offset
    }.map(\.element)
  }

  private func isDecimal(_ column: Int) -> Bool {
    column >= keys.count && aggregates[column - keys.count].isDecimal
  }

  private static func compareDecimals(_ left: SQLValue, _ right: SQLValue) -> Int {
    guard let first = decimal(left), let second = decimal(right) else {
      return (left.isNull ? 0 : 1) - (right.isNull ? 0 : 1)
    }
    if first.isLess(than: second) { return -1 }
    return second.isLess(than: first) ? 1 : 0
  }
}

/// The decimals of one group.
private struct DecimalTotals {
  private var sum = ExactDecimal()
  private var count: Int64 = 0
  private var least: (number: ExactDecimal, value: SQLValue)?
  private var most: (number: ExactDecimal, value: SQLValue)?
  /// Whether one of them is stored as a real.
  private(set) var hasReal = false

  mutating func add(_ number: ExactDecimal, _ value: SQLValue, times count: Int64) {
    if case .real = value { hasReal = true }
    sum.add(number, times: count)
    self.count += count
    if least.map({ number.isLess(than: $0.number) }) ?? true { least = (number, value) }
    if most.map({ $0.number.isLess(than: number) }) ?? true { most = (number, value) }
  }

  func value(of function: Aggregate.Function) -> SQLValue {
    switch function {
    case .sum: .text(sum.text)
    case .avg: .text(sum.quotientText(by: count))
    case .min: least?.value ?? .null
    case .max: most?.value ?? .null
    }
  }
}
