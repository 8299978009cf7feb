import ArgumentParser
import ModelStore

/// `bindings why`: how a value comes into a field.
struct BindingsWhyCommand: LeafCommand {
  static let configuration = CommandConfiguration(
    commandName: "why", abstract: "Show the bindings by which a field gets its value.",
    discussion: """
      Example: storecli bindings why Album.artistName 12
      Fields that somebody writes come first, then bindings on the way, sources before what follows \
      them. With a key, shows the values in that record and in the records that it gets them from, \
      and of several bindings of a field which one is in force there.
      """)

  @Argument(help: ArgumentHelp("The field.", valueName: "model.field"))
  var field: String

  @Argument(help: ArgumentHelp("A record's key.", valueName: "id"))
  var key: String?

  @OptionGroup var options: GlobalOptions

  func run(_ context: CommandContext) throws -> ExitCode {
    let opened = try context.openForReading()
    let (model, named) = try opened.field(named: field)
    let chain = try opened.store.bindings(
      into: BindingSchema.Field(model: model.name, field: named.name))
    let records = try key.map {
      try SourceRecords(of: model, key: try KeyText.parse($0, for: model), chain, in: opened)
    }
    let told: [OutputColumn] =
      records == nil
      ? []
      : [
        OutputColumn("inForce", meaning: .truth), OutputColumn("record", meaning: .json),
        OutputColumn("value"),
      ]
    var writer = try context.reportWriter(
      columns: [
        OutputColumn("field", role: .key), OutputColumn("binding"), OutputColumn("formula"),
      ] + told)
    func write(_ field: BindingSchema.Field, _ binding: BindingSchema?) throws {
      let name = binding.map { SQLValue.text($0.name) } ?? .null
      let formula = binding.map { SQLValue.text($0.description) } ?? .null
      var row: [SQLValue] = [.text(field.description), name, formula]
      if let records {
        let isInForce = try binding.flatMap { try records.isInForce($0, among: chain) }
        row.append(isInForce.map { .integer($0 ? 1 : 0) } ?? .null)
        row.append(try records.key(of: field).map { try context.list(key: $0) } ?? .null)
        row.append(records.value(of: field) ?? .null)
      }
      try writer.write(row)
    }
    let bound = Set(chain.flatMap(\.boundFields).map(\.description))
    let models = opened.store.schema.models
    var written = bound
    for binding in chain {
      for input in try binding.inputs(in: models) where written.insert(input.description).inserted {
        try write(input, nil)
      }
      for field in binding.boundFields { try write(field, binding) }
    }
    try context.finish(writer)
    try context.console.say(
      chain.isEmpty ? "nothing is bound to \(field)" : Grouped.text(chain.count, "binding"))
    return .ok
  }
}

/// One record of each model on the way to a bound field, as far as one belongs to the next.
private struct SourceRecords {
  private let opened: OpenedStore
  private var records: [String: Record] = [:]

  init(
    of model: ModelSchema, key: [SQLValue], _ chain: [BindingSchema], in opened: OpenedStore
  ) throws {
    self.opened = opened
    let start = try opened.read { reads in try reads.find(model, key: key) }
    guard let start else {
      throw CommandError(
        .notFound, code: "recordNotFound", "There is no \(model.name) \(KeyText.text(key)).",
        hint: "storecli query \(Shell.quoted(model.name))", model: model.name)
    }
    records[model.name] = start
    for binding in chain.reversed() {
      guard let record = records[binding.target.model] else { continue }
      switch binding.formula {
      case .copy(let source, let through):
        let schema = try opened.model(named: source.model)
        let column = record.schema.field(named: through)?.reference?.column
        let key = schema.fields.first { $0.column == column }?.name ?? schema.key[0]
        try note(schema, [(key, record[through])])
      case .lookup(let lookup):
        let schema = try opened.model(named: lookup.source.model)
        let match = lookup.match.map { ($0.source, record[$0.target]) }
        try note(schema, match + Array(zip(schema.key, lookup.place ?? [])))
      case .twoWay(let twoWay) where !twoWay.match.isEmpty:
        let schema = try opened.model(named: twoWay.left.model)
        try note(schema, twoWay.match.map { ($0.source, record[$0.target]) })
      case .derive, .aggregate, .twoWay: continue
      }
    }
  }

  private mutating func note(
    _ model: ModelSchema, _ values: [(field: String, value: SQLValue?)]
  ) throws {
    guard records[model.name] == nil else { return }
    var condition: SQLText = "1"
    for (name, value) in values {
      guard let value, let field = model.field(named: name) else { return }
      condition.append(" AND \(identifier: field.column) = \(value)")
    }
    let query = Query<Record>(model, where: .sql(condition))
    records[model.name] = try opened.read { reads in try reads.fetchFirst(query) }
  }

  /// The key of the record that `field` is looked at in; nil when there is none.
  func key(of field: BindingSchema.Field) -> [SQLValue]? { records[field.model]?.key }

  /// Dates as ISO-8601; nil when there is no record.
  func value(of field: BindingSchema.Field) -> SQLValue? {
    guard let record = records[field.model], let value = record[field.field] else { return nil }
    return record.schema.field(named: field.field).map { FieldColumns.shown(value, $0) } ?? value
  }

  /// Whether `binding` is what its target follows: its condition holds in the record, and that of
  /// none of `others` that goes before it. nil when there is no record, or when a condition calls
  /// what this program does not have.
  func isInForce(_ binding: BindingSchema, among others: [BindingSchema]) throws -> Bool? {
    let rivals = others.filter {
      $0 != binding && $0.target == binding.target
        && $0.priority ?? .min > binding.priority ?? .min
    }
    guard let holds = try isMet(binding) else { return nil }
    guard holds else { return false }
    for rival in rivals {
      guard let isBefore = try isMet(rival) else { return nil }
      if isBefore { return false }
    }
    return true
  }

  /// Whether the binding's condition holds in the target's record.
  private func isMet(_ binding: BindingSchema) throws -> Bool? {
    guard let record = records[binding.target.model] else { return nil }
    guard let condition = binding.condition else { return true }
    guard binding.functions == nil else { return nil }
    var place: SQLText = "1"
    for (index, value) in zip(record.schema.keyIndices, record.key) {
      place.append(" AND \(identifier: record.schema.fields[index].column) = \(value)")
    }
    place.append(" AND (\(SQLText(sql: condition)))")
    let query = Query<Record>(record.schema, where: .sql(place))
    return try opened.read { reads in try reads.count(query) } > 0
  }
}
