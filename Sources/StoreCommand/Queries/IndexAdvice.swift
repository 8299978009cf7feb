import ModelStore

/// An index that makes a query cheaper, as a trial on a copy of the records has shown.
struct IndexAdvice: Hashable, Sendable {
  /// The statement that creates the index.
  let sql: String
  let before: StatementWork
  let after: StatementWork
}

extension IndexAdvice {
  /// The fields of a query for which an index may help.
  struct Subject {
    let schema: ModelSchema
    /// Fields with one wanted value, or a few.
    private var equal: [Term] = []
    /// Fields with a range of wanted values.
    private var ranges: [Term] = []
    /// The order of the result, or the groups.
    private var order: [Term] = []
    /// Fields of which only the values are needed, as in a sum.
    private var read: [Term] = []
    /// The positions of all these fields.
    private(set) var fieldIndices: Set<Int>

    /// A query for records.
    init(_ query: StoreQuery<DynamicRecord>) {
      self.init(conditionOf: query)
      order = query.totalOrderings.map { ordering in
        Term(
          field: schema.fields[ordering.fieldIndex],
          collation: ordering.effectiveCollation(in: schema),
          isDescending: ordering.direction == .descending)
      }
      // Every index ends with the row number.
      if schema.key.count == 1, order.last?.field.isRowID == true, order.last?.isDescending == false
      {
        order.removeLast()
      }
      fieldIndices.formUnion(query.totalOrderings.map(\.fieldIndex))
    }

    /// A query for numbers.
    init(
      _ records: StoreQuery<DynamicRecord>, grouping fields: [FieldSchema],
      reading read: [FieldSchema]
    ) {
      self.init(conditionOf: records)
      // Groups are compared byte by byte.
      order = fields.map { Term(field: $0, collation: .binary) }
      self.read = read.map { Term(field: $0) }
      fieldIndices.formUnion((fields + read).compactMap { schema.fieldIndex(named: $0.name) })
    }

    private init(conditionOf query: StoreQuery<DynamicRecord>) {
      schema = query.schema
      fieldIndices = query.condition?.fieldIndices ?? []
      for part in query.condition?.conjuncts ?? [] {
        guard let (index, isRange) = Self.term(of: part) else { continue }
        let term = Term(field: schema.fields[index])
        if isRange { ranges.append(term) } else { equal.append(term) }
      }
    }

    /// The field that a part of the condition restricts, if an index can find its values.
    private static func term(of condition: Condition) -> (index: Int, isRange: Bool)? {
      switch condition {
      case .comparison(.field(let index), let operation, .value),
        .comparison(.value, let operation, .field(let index)):
        switch operation {
        case .equal, .isIdentical: (index, false)
        case .less, .lessOrEqual, .greater, .greaterOrEqual: (index, true)
        case .notEqual, .isDistinct: nil
        }
      case .isIn(.field(let index), _), .isNull(.field(let index)): (index, false)
      case .between(.field(let index), _, _), .glob(.field(let index), _): (index, true)
      default: nil
      }
    }

    /// The columns of the indexes to try, short ones first.
    fileprivate var candidates: [[Term]] {
      var found: [[Term]] = []
      func add(_ terms: [Term]) {
        var seen: Set<String> = []
        let terms = terms.filter { seen.insert($0.field.name).inserted }
        // The table itself is in the order of its row number.
        guard let first = terms.first, !first.field.isRowID, !found.contains(terms) else { return }
        found.append(terms)
      }
      for term in equal + ranges { add([term]) }
      add(equal + order)
      add(order)
      for range in ranges { add(equal + [range]) }
      if !read.isEmpty {
        add(equal + order + read)
        for range in ranges { add(equal + [range] + read) }
      }
      return found.filter { $0.count <= 6 }.sorted { $0.count < $1.count }
    }
  }

  /// One column of an index.
  struct Term: Hashable, Sendable {
    let field: FieldSchema
    let collation: Collation
    let isDescending: Bool

    init(field: FieldSchema, collation: Collation? = nil, isDescending: Bool = false) {
      self.field = field
      self.collation = collation ?? field.collation
      self.isDescending = isDescending
    }

    var sql: String {
      let collated =
        collation == field.collation ? "" : " COLLATE \(SQLText.quoted(collation.name))"
      return SQLText.quoted(field.column) + collated + (isDescending ? " DESC" : "")
    }
  }

  /// An index has to save a fifth of the steps.
  private static func helps(_ after: StatementWork, _ before: StatementWork) -> Bool {
    after.isComplete && after.stepCount <= before.stepCount / 5 * 4
  }

  /// Tries the indexes that may help, and returns the best; nil if none helps.
  ///
  /// - Returns: The advice, what the statement costs without it, and how many indexes were tried.
  static func best(
    for text: SQLText, _ subject: Subject, on scratch: ScratchTable, names: Set<String>
  ) throws -> (advice: IndexAdvice?, tried: Int) {
    let before = try scratch.work(of: text)
    var best: IndexAdvice?
    let candidates = subject.candidates
    for terms in candidates {
      let sql = statement(for: terms, of: subject.schema, names: names)
      let after = try scratch.work(of: text, with: sql)
      // A longer index has to be worth its columns.
      guard helps(after, before), after.stepCount < (best?.after.stepCount ?? .max) / 10 * 9 else {
        continue
      }
      best = IndexAdvice(sql: sql, before: before, after: after)
    }
    return (best, candidates.count)
  }

  /// - Parameter names: The names that are taken.
  private static func statement(
    for terms: [Term], of schema: ModelSchema, names: Set<String>
  ) -> String {
    let base = ([schema.table] + terms.map(\.field.column)).joined(separator: "_")
    let numbered = (2...).lazy.map { "\(base)_\($0)" }
    let name = names.contains(base) ? numbered.first { !names.contains($0) } ?? base : base
    let columns = terms.map(\.sql).joined(separator: ", ")
    return "CREATE INDEX \(SQLText.quoted(name)) ON \(SQLText.quoted(schema.table)) (\(columns))"
  }
}
