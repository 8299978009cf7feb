import Foundation
import Testing

@testable import ModelStore

/// Random graphs of bindings under random writes of the library and, at the same moment, of the
/// `sqlite3` shell.
@Suite(.tags(.law)) struct BindingGraphTests {
  /// Three models alike: `up` refers to a record of the next one, `code` is unique, the rest is
  /// bound or free.
  private static let names = ["A", "B", "C"]
  private static let fields = ["f0", "f1", "f2", "f3", "f4"]

  private static let models = names.map { name in
    ModelSchema(
      name: name,
      fields: [FieldSchema(name: "id", type: .integer, isRowID: true)]
        + [FieldSchema(name: "up", type: .integer, isOptional: true)]
        + [FieldSchema(name: "code", type: .integer, isOptional: true, isUnique: true)]
        + fields.map { FieldSchema(name: $0, type: .integer, isOptional: true) },
      key: ["id"])
  }

  private static let tables = names.map { name in
    """
    CREATE TABLE \(name) (
      id INTEGER PRIMARY KEY, up INTEGER, code INTEGER UNIQUE,
      f0 INTEGER, f1 INTEGER, f2 INTEGER, f3 INTEGER, f4 INTEGER
    );
    CREATE INDEX "\(name).up" ON \(name) (up);
    """
  }
  .joined()

  private typealias Row = [String: Int?]

  /// An expression over one field, in SQL and in Swift; all but the first lose something.
  private struct Form: Sendable {
    let sql: @Sendable (String) -> String
    let value: @Sendable (Int?) -> Int?
  }

  private static let forms = [
    Form(sql: { $0 }, value: { $0 }),
    Form(sql: { "\($0) / 2" }, value: { $0.map { $0 / 2 } }),
    Form(sql: { "abs(\($0)) % 7" }, value: { $0.map { abs($0) % 7 } }),
    Form(sql: { "coalesce(\($0), -1)" }, value: { $0 ?? -1 }),
    Form(
      sql: { "CASE WHEN \($0) > 3 THEN \($0) - 3 END" },
      value: { $0.flatMap { $0 > 3 ? $0 - 3 : nil } }),
  ]

  /// A binding with what the model says about its target, by the rows of all tables.
  private struct Bound {
    var schema: BindingSchema
    let model: String
    let field: String
    /// Nil for a two-way binding.
    let value: (([String: [Row]], Row) -> Int?)?
    /// For a two-way binding: its left field, forward and backward.
    var pair: (left: String, forward: Form, backward: Form)?
    /// The field that must be above 2 for the binding to be in force.
    var condition: String?
  }

  private static func value(_ row: Row, _ field: String) -> Int? { row[field] ?? nil }

  private static func random(_ generator: inout SeededGenerator) -> Bound {
    var bound = unconditional(&generator)
    guard Int.random(in: 0..<4, using: &generator) == 0 else { return bound }
    let field = fields.randomElement(using: &generator) ?? "f0"
    bound.schema.condition = "\(field) > 2"
    bound.condition = field
    return bound
  }

  private static func unconditional(_ generator: inout SeededGenerator) -> Bound {
    let model = names.randomElement(using: &generator) ?? "A"
    let field = fields.randomElement(using: &generator) ?? "f0"
    let other = fields.randomElement(using: &generator) ?? "f1"
    let place = names.firstIndex(of: model) ?? 0
    let (next, previous) = (names[(place + 1) % 3], names[(place + 2) % 3])
    let form = forms.randomElement(using: &generator) ?? forms[0]
    let target = BindingSchema.Field(model: model, field: field)
    func bound(
      _ formula: BindingSchema.Formula, _ value: (([String: [Row]], Row) -> Int?)?
    ) -> Bound {
      Bound(
        schema: BindingSchema(target: target, formula: formula), model: model, field: field,
        value: value)
    }
    switch Int.random(in: 0..<9, using: &generator) {
    case 0, 1:
      return bound(.derive(sql: form.sql(other))) { _, row in form.value(row[other] ?? nil) }
    case 2:
      return bound(.copy(source: .init(model: next, field: other), through: "up")) { tables, row in
        tables[next]?.first { $0["id"] == row["up"] }?[other] ?? nil
      }
    case 3:
      return bound(
        .lookup(
          .init(
            source: .init(model: next, field: other),
            match: [.init(source: "code", target: "up")], transform: form.sql(other)))
      ) { tables, row in
        guard let up = row["up"] ?? nil,
          let source = tables[next]?.first(where: { $0["code"] == .some(.some(up)) })
        else { return nil }
        return form.value(source[other] ?? nil)
      }
    case 4, 5, 6:
      let (aggregate, value) = aggregate(over: previous, other, &generator)
      return bound(.aggregate(aggregate), value)
    default:
      let backward = forms.randomElement(using: &generator) ?? forms[0]
      var result = bound(
        .twoWay(
          .init(
            left: .init(model: model, field: other), match: [], forward: form.sql(other),
            backward: backward.sql(field),
            conflict: Bool.random(using: &generator) ? .leftWins : .rightWins)), nil)
      result.pair = (other, form, backward)
      return result
    }
  }

  /// An expression over two fields, in SQL and in Swift. The first three are sums and products.
  private static let measures:
    [(
      sql: @Sendable (String, String) -> String,
      value: @Sendable (Int?, Int?) -> Int?
    )] = [
      ({ "\($0) * \($1)" }, { left, right in left.flatMap { left in right.map { left * $0 } } }),
      (
        { "\($0) - 3 * (\($1) + 1)" },
        { left, right in left.flatMap { left in right.map { left - 3 * ($0 + 1) } } }
      ),
      ({ left, _ in "-\(left)" }, { left, _ in left.map { -$0 } }),
      ({ "coalesce(\($0), 2) % 5 + \($1)" }, { left, right in right.map { (left ?? 2) % 5 + $0 } }),
      (
        { "CASE WHEN \($0) > \($1) THEN \($0) END" },
        { left, right in
          left.flatMap { left in right.flatMap { left > $0 ? left : nil } }
        }
      ),
    ]

  /// An aggregate of a field, or of an expression over it, and the value of a target's row.
  private static func aggregate(
    over model: String, _ field: String, _ generator: inout SeededGenerator
  ) -> (BindingSchema.Aggregate, ([String: [Row]], Row) -> Int?) {
    let functions: [BindingSchema.Aggregate.Function] = [
      .count, .sum, .sum, .minimum, .maximum, .first, .last,
    ]
    let function = functions.randomElement(using: &generator) ?? .count
    let second = fields.randomElement(using: &generator) ?? "f0"
    let takesExpression = [.sum, .minimum, .maximum].contains(function)
    let measure =
      takesExpression && Bool.random(using: &generator)
      ? measures.randomElement(using: &generator) : nil
    let filter =
      Bool.random(using: &generator) ? (fields.randomElement(using: &generator) ?? "f0") : nil
    let isOrdered = function == .first || function == .last
    let order = isOrdered ? fields.randomElement(using: &generator) : nil
    let aggregate = BindingSchema.Aggregate(
      function, model: model, field: measure == nil ? field : nil,
      expression: measure?.sql(field, second), order: order,
      match: [.init(source: "up", target: "id")], condition: filter.map { "\($0) > 2" })
    return (
      aggregate,
      { tables, row in
        let rows = (tables[model] ?? []).filter { source in
          guard value(source, "up") == value(row, "id") else { return false }
          guard let filter else { return true }
          return (value(source, filter) ?? 0) > 2
        }
        func measured(_ row: Row) -> Int? {
          guard let measure else { return value(row, field) }
          return measure.value(value(row, field), value(row, second))
        }
        let values = rows.compactMap(measured)
        let sorted = rows.sorted { left, right in
          let first = order.map { (value(left, $0) ?? .min, value(right, $0) ?? .min) } ?? (0, 0)
          if first.0 != first.1 { return first.0 < first.1 }
          return (value(left, "id") ?? 0) < (value(right, "id") ?? 0)
        }
        return switch function {
        case .count: values.count
        case .sum: values.reduce(0, +)
        case .minimum: values.min()
        case .maximum: values.max()
        case .first: sorted.first.flatMap { value($0, field) }
        default: sorted.last.flatMap { value($0, field) }
        }
      }
    )
  }

  /// Bindings that are taken together, as many as `generator` finds in some tries.
  private static func graph(_ generator: inout SeededGenerator) -> [Bound] {
    var graph: [Bound] = []
    for _ in 0..<24 {
      let next = random(&generator)
      do {
        _ = try ResolvedBinding.inDependencyOrder(graph.map(\.schema) + [next.schema], in: models)
        graph.append(next)
      } catch {
        continue
      }
    }
    return graph
  }

  private static func statement(_ generator: inout SeededGenerator) -> String {
    let model = names.randomElement(using: &generator) ?? "A"
    let field = fields.randomElement(using: &generator) ?? "f0"
    func id() -> Int { Int.random(in: 1...6, using: &generator) }
    func value() -> String {
      Int.random(in: 0..<6, using: &generator) == 0
        ? "NULL" : "\(Int.random(in: -9...20, using: &generator))"
    }
    let clause = ["", "", "", "OR IGNORE ", "OR REPLACE "].randomElement(using: &generator) ?? ""
    return switch Int.random(in: 0..<14, using: &generator) {
    case 0, 1:
      "INSERT \(clause)INTO \(model) (id, up, code, \(field)) VALUES (\(id()), \(id()), \(id()), \(value()))"
    case 2:
      "REPLACE INTO \(model) (id, up, code, \(field)) VALUES (\(id()), \(id()), \(id()), \(value()))"
    case 3:
      "INSERT INTO \(model) (id, up, \(field)) VALUES (\(id()), \(id()), \(value())) ON CONFLICT DO UPDATE SET \(field) = excluded.\(field), up = excluded.up"
    case 4: "DELETE FROM \(model) WHERE id = \(id())"
    case 5: "UPDATE \(clause)\(model) SET up = \(id()) WHERE id = \(id())"
    case 6: "UPDATE \(clause)\(model) SET code = \(id()) WHERE id = \(id())"
    case 7: "UPDATE \(clause)\(model) SET id = \(id()) WHERE id = \(id())"
    case 8: "UPDATE \(clause)\(model) SET \(field) = coalesce(\(field), 0) + 1"
    case 9: "UPDATE \(model) SET up = NULL WHERE id = \(id())"
    default: "UPDATE \(clause)\(model) SET \(field) = \(value()) WHERE id = \(id())"
    }
  }

  private static func tables(in fixture: BindingFixture) throws -> [String: [Row]] {
    var tables: [String: [Row]] = [:]
    for name in names {
      tables[name] = try BindingZoo.read(name, fixture.connection).map { row in
        row.mapValues { if case .integer(let number) = $0 { Int(number) } else { nil } }
      }
    }
    return tables
  }

  private static func mistakes(_ graph: [Bound], _ tables: [String: [Row]]) -> [String] {
    graph.flatMap { bound in
      (tables[bound.model] ?? []).compactMap { row -> String? in
        if let field = bound.condition, value(row, field) ?? 0 <= 2 { return nil }
        let found = row[bound.field] ?? nil
        let isRight: Bool
        if let pair = bound.pair {
          let left = row[pair.left] ?? nil
          isRight = found == pair.forward.value(left) || left == pair.backward.value(found)
        } else {
          isRight = found == bound.value?(tables, row)
        }
        return isRight ? nil : "\(bound.schema): \(row)"
      }
    }
  }

  private static let transactionCount =
    ProcessInfo.processInfo.environment["MODELSTORE_BINDING_TRANSACTIONS"].flatMap(Int.init)
    ?? 1000

  /// Every transaction enters itself here, so that the file says in which order they came.
  private static let log = """
    CREATE TABLE Log (place INTEGER PRIMARY KEY, writer TEXT NOT NULL, number INTEGER NOT NULL);
    """

  @Test(
    "random graphs of bindings hold under random writes of two programs at once",
    SQLiteShell.isNeeded)
  func graphsHold() async throws {
    let (transactionsOfAGraph, batchCount) = (100, 2)
    var transactionCount = 0
    var turnCount = 0
    for seed in 0..<(Self.transactionCount / transactionsOfAGraph) {
      var generator = SeededGenerator(seed: UInt64(seed))
      let graph = Self.graph(&generator)
      let fixture = try BindingFixture(Self.tables + Self.log)
      try fixture.install(graph.map(\.schema), in: Self.models)
      let installation = try CompiledBindings(graph.map(\.schema), in: Self.models)
      let complaints = Pipe()
      let shell = try SQLiteShell(fixture.path, errors: complaints)
      // Only one program is to make checkpoints: many versions of SQLite damage the file otherwise.
      try shell.run("PRAGMA wal_autocheckpoint = 0; PRAGMA synchronous = OFF")
      let replay = try Replay(of: graph)
      for batch in 0..<batchCount {
        // Tests that wait for something need a thread now and then.
        await Task.yield()
        let count = transactionsOfAGraph / batchCount / 2
        var scripts: [BindingWriter: [String]] = [:]
        for writer in BindingWriter.allCases {
          scripts[writer] = (0..<count).map { _ in Self.statement(&generator) }
        }
        // Each on a line of its own: the shell leaves out what follows a failure on its line.
        let script = (scripts[.shell] ?? []).enumerated().map { number, sql in
          "BEGIN IMMEDIATE;\n\(Self.entry(.shell, number));\n\(sql);\nCOMMIT"
        }
        try shell.begin(script.joined(separator: ";\n"))
        for (number, sql) in (scripts[.library] ?? []).enumerated() {
          try write(sql, number, in: graph, fixture)
          // Whatever the other program does meanwhile, every reader sees correct values.
          let mistakes = try Self.mistakes(graph, snapshot(of: fixture))
          #expect(mistakes == [], "seed \(seed), batch \(batch), after \(number)")
          guard mistakes == [] else { return }
        }
        #expect(shell.end() == [], "seed \(seed), batch \(batch)")
        let order = try Self.takeLog(of: fixture)
        #expect(order.count == 2 * count, "seed \(seed), batch \(batch)")
        transactionCount += order.count
        turnCount += zip(order, order.dropFirst()).count { $0.writer != $1.writer }
        try replay.run(order.map { scripts[$0.writer]?[$0.number] ?? "" })
        let tables = try Self.tables(in: fixture)
        let mistakes = Self.mistakes(graph, tables)
        #expect(mistakes == [], "seed \(seed), batch \(batch)")
        let differences = try replay.differences(from: tables)
        #expect(differences == [], "seed \(seed), batch \(batch)")
        let findings = try installation.findings(on: fixture.connection, maxKeyCount: 3)
        #expect(findings == [], "seed \(seed), batch \(batch)")
        guard mistakes == [], differences == [], findings == [] else { return }
      }
      // Its status only says that a statement failed, as some do; which, its complaints say.
      try shell.finish()
      let told = String(
        decoding: complaints.fileHandleForReading.readDataToEndOfFile(), as: UTF8.self)
      #expect(
        told.split(separator: "\n").filter { !$0.contains("UNIQUE constraint failed") } == [],
        "seed \(seed)")
    }
    print(
      "graphs of bindings: \(transactionCount) transactions of two programs, \(turnCount) turns")
  }

  private static func entry(_ writer: BindingWriter, _ number: Int) -> String {
    "INSERT INTO Log (writer, number) VALUES ('\(writer.rawValue)', \(number))"
  }

  /// Which program wrote which of its statements, in the order of commits, since the last call.
  private static func takeLog(
    of fixture: BindingFixture
  ) throws -> [(writer: BindingWriter, number: Int)] {
    let text: SQLText = "SELECT writer, number FROM Log ORDER BY place"
    let entries = try fixture.connection.rows(text) { row in
      (
        writer: try #require(BindingWriter(rawValue: try row.text(at: 0))),
        number: Int(try row.integer(at: 1))
      )
    }
    try fixture.connection.execute("DELETE FROM Log")
    return entries
  }

  /// All tables at one moment.
  private func snapshot(of fixture: BindingFixture) throws -> [String: [Row]] {
    try fixture.connection.execute("BEGIN")
    let tables = try Self.tables(in: fixture)
    try fixture.connection.execute("COMMIT")
    return tables
  }

  /// What one statement wrote: itself, and by bindings, in tables of models.
  private struct Writes {
    var direct = 0
    var bound = 0
  }

  /// One transaction of the library.
  ///
  /// Each change of a record that a statement makes itself starts one cascade, and a cascade passes
  /// each edge at most once: an edge leads into one field of one record.
  private func write(
    _ sql: String, _ number: Int, in graph: [Bound], _ fixture: BindingFixture
  ) throws {
    var writes = Writes()
    try fixture.connection.execute("BEGIN IMMEDIATE")
    try fixture.connection.execute(Self.entry(.library, number))
    let before = try Self.tables(in: fixture)
    fixture.connection.hooks.onRowChange { row in
      guard Self.names.contains(String(cString: row.table)) else { return }
      if row.depth == 0 { writes.direct += 1 } else { writes.bound += 1 }
    }
    defer { fixture.connection.hooks.onRowChange(nil) }
    if let failure = try fixture.failure(of: sql) {
      #expect(failure.message.contains("UNIQUE constraint failed"), "\(sql): \(failure.message)")
    }
    let after = try Self.tables(in: fixture)
    try fixture.connection.execute("COMMIT")
    let edges = graph.reduce(0) { edges, bound in
      let rows = max(before[bound.model]?.count ?? 0, after[bound.model]?.count ?? 0)
      return edges + rows * (bound.pair == nil ? 1 : 2)
    }
    #expect(writes.bound <= writes.direct * edges, "\(sql): \(writes), \(edges) edges")
  }

  /// The same statements one after the other in a file without bindings: what the fields hold that
  /// nothing is bound to, and which records there are. What is bound follows from those, which
  /// ``mistakes(_:_:)`` asks of the model in Swift.
  private struct Replay {
    private let file: BindingFixture
    private let bound: Set<BindingSchema.Field>

    init(of graph: [Bound]) throws {
      file = try BindingFixture(BindingGraphTests.tables)
      bound = Set(
        graph.flatMap { bound in
          [bound.field, bound.pair?.left].compactMap(\.self)
            .map { BindingSchema.Field(model: bound.model, field: $0) }
        })
    }

    func run(_ statements: [String]) throws {
      for sql in statements { _ = try file.failure(of: sql) }
    }

    /// The records and fields that `tables` has otherwise.
    func differences(from tables: [String: [Row]]) throws -> [String] {
      let expected = try BindingGraphTests.tables(in: file)
      return BindingGraphTests.names.compactMap { name in
        func free(_ rows: [Row]?) -> [Row] {
          (rows ?? []).map { row in
            row.filter { !bound.contains(.init(model: name, field: $0.key)) }
          }
        }
        let (found, wanted) = (free(tables[name]), free(expected[name]))
        return found == wanted ? nil : "\(name): \(found), not \(wanted)"
      }
    }
  }
}
