import ArgumentParser
import ModelStore

/// `bindings why`: how a value comes into a field.
struct BindingsWhyCommand: LeafCommand {
  static let configuration = CommandConfiguration(
    commandName: "why", abstract: "Show the bindings by which a field gets its value.",
    discussion: """
      Example: storecli bindings why Album.artistName 12
      Fields that somebody writes come first, then bindings on the way, sources before what follows \
      them. With a key, shows the values in that record and in the records that it gets them from.
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
    var writer = try context.reportWriter(
      columns: [
        OutputColumn("field", role: .key), OutputColumn("binding"), OutputColumn("formula"),
        OutputColumn("value"),
      ])
    func write(_ field: BindingSchema.Field, _ binding: BindingSchema?) throws {
      let value = records?.value(of: field).map { CellText.exchange($0) ?? "null" }
      try writer.write([
        .text(field.description), .text(binding?.name ?? ""),
        .text(binding?.description ?? ""), .text(value ?? ""),
      ])
    }
    let bound = Set(chain.flatMap(\.boundFields).map(\.description))
    let models = opened.store.schema.models
    var told = bound
    for binding in chain {
      for input in try binding.inputs(in: models) where told.insert(input.description).inserted {
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
  private var records: [String: Record] = [:]

  init(
    of model: ModelSchema, key: [SQLValue], _ chain: [BindingSchema], in opened: OpenedStore
  ) throws {
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
        try note(schema, [(key, record[through])], opened)
      case .lookup(let lookup):
        let schema = try opened.model(named: lookup.source.model)
        let match = lookup.match.map { ($0.source, record[$0.target]) }
        try note(schema, match + Array(zip(schema.key, lookup.place ?? [])), opened)
      case .twoWay(let twoWay) where !twoWay.match.isEmpty:
        let schema = try opened.model(named: twoWay.left.model)
        try note(schema, twoWay.match.map { ($0.source, record[$0.target]) }, opened)
      case .derive, .aggregate, .twoWay: continue
      }
    }
  }

  private mutating func note(
    _ model: ModelSchema, _ values: [(field: String, value: SQLValue?)], _ opened: OpenedStore
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

  func value(of field: BindingSchema.Field) -> SQLValue? {
    records[field.model]?[field.field]
  }
}
