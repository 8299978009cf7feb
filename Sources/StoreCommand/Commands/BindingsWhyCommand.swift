import ArgumentParser
import ModelStore
import RecordFormats

/// `bindings why`: where a field gets its value.
struct BindingsWhyCommand: LeafCommand {
  static let configuration = CommandConfiguration(
    commandName: "why", abstract: "Show the bindings by which a field gets its value.",
    discussion: """
      Example: storecli bindings why Album.artistName 12
      Fields that programs write come first. The bindings follow, each after its sources. \
      With a key, you also see the values in that record and in its source records, and which of \
      several bindings of a field is in force there.
      """)

  @Argument(
    help: ArgumentHelp("The field.", valueName: "model.field"), completion: Completion.boundField)
  var field: String

  @Argument(help: ArgumentHelp("A record's key.", valueName: "id"), completion: Completion.key)
  var key: String?

  @OptionGroup(title: "Common options") var options: GlobalOptions

  var isPaged: Bool { true }

  func run(_ context: CommandContext) throws -> ExitCode {
    let opened = try context.openForReading()
    let (model, named) = try opened.field(named: field)
    let end = BindingSchema.Field(model: model.name, field: named.name)
    let chain = try opened.store.bindings(into: end)
    let records = try key.map {
      try SourceRecords(
        of: end, key: try KeyText.key($0, for: model, in: opened), chain, in: opened)
    }
    // A person reads the formula of each field; a choice of columns takes the names of programs.
    let isForPerson = context.format == .table && context.options.fieldNames == nil
    var writer = try context.reportWriter(
      columns: isForPerson
        ? Self.shownColumns(withValues: records != nil) : Self.columns(withValues: records != nil))
    func write(_ field: BindingSchema.Field, _ binding: BindingSchema?) throws {
      guard !isForPerson else {
        let isInForce = try binding.flatMap { try records?.isInForce($0, among: chain) }
        var row: [CellValue] = [.text(field.description)]
        if let records {
          row.append(try records.key(of: field).map { try context.list(key: $0) } ?? .text("-"))
          row.append(records.value(of: field).map { CellValue($0) } ?? .null)
        }
        row.append(.text(Self.source(of: field, binding, isInForce: isInForce)))
        return try writer.write(row)
      }
      let name = binding.map { CellValue.text($0.name) } ?? .null
      let formula = binding.map { CellValue.text($0.description) } ?? .null
      var row: [CellValue] = [.text(field.description), name, formula]
      if let records {
        let isInForce = try binding.flatMap { try records.isInForce($0, among: chain) }
        row.append(isInForce.map { .integer($0 ? 1 : 0) } ?? .null)
        row.append(try records.key(of: field).map { try context.list(key: $0) } ?? .null)
        row.append(records.value(of: field).map { CellValue($0) } ?? .null)
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
    // A generated column has no binding, but it has sources.
    if !chain.isEmpty, written.insert(end.description).inserted { try write(end, nil) }
    try context.finish(writer)
    try context.console.say(
      chain.isEmpty ? "nothing is bound to \(field)" : Grouped.text(chain.count, "binding"))
    return .ok
  }
}

extension BindingsWhyCommand {
  /// The columns for a program.
  private static func columns(withValues: Bool) -> [OutputColumn] {
    let values = [
      OutputColumn("inForce", meaning: .truth), OutputColumn("record", meaning: .json),
      OutputColumn("value"),
    ]
    return [OutputColumn("field", role: .key), OutputColumn("binding"), OutputColumn("formula")]
      + (withValues ? values : [])
  }

  /// The columns for a person.
  private static func shownColumns(withValues: Bool) -> [OutputColumn] {
    let values = [OutputColumn("record", role: .whole), OutputColumn("value")]
    return [OutputColumn("field", role: .key)] + (withValues ? values : [])
      + [OutputColumn("comes from", role: .whole)]
  }

  /// Where a field gets its value, in words.
  private static func source(
    of field: BindingSchema.Field, _ binding: BindingSchema?, isInForce: Bool?
  ) -> String {
    guard let binding else { return "what programs write" }
    let formula = binding.description
    let start = "\(field) = "
    let source = formula.hasPrefix(start) ? String(formula.dropFirst(start.count)) : formula
    return source + (binding.name == field.description ? "" : " (binding \(binding.name))")
      + (isInForce == false ? ", not in force here" : "")
  }
}

/// The records whose fields lead to a bound field, as far as each one belongs to the next. If
/// several records have such a field, the nearest record counts.
private struct SourceRecords {
  /// Where a binding takes its values from.
  private struct Link {
    let source: BindingSchema.Field
    let target: BindingSchema.Field
    /// Which fields of the source's record are equal to which of the target's.
    let pairs: [(source: String, target: String)]
    var place: [SQLValue] = []
    /// Whether expressions read more fields.
    var hasExpressions = false
  }

  private let opened: OpenedStore
  /// By generated field, what it is computed from.
  private let generated: [BindingSchema.Field: [BindingSchema.Field]]
  /// By field; nil if the record does not exist.
  private var records: [BindingSchema.Field: DynamicRecord?] = [:]

  init(
    of field: BindingSchema.Field, key: [SQLValue], _ chain: [BindingSchema],
    in opened: OpenedStore
  ) throws {
    self.opened = opened
    let models = opened.store.schema.models
    // Not references, which follow the key of another record.
    generated = try opened.store.computedFields().filter { field, _ in
      let model = models.first { $0.name == field.model }
      return model?.field(named: field.field).map { $0.generated != nil } ?? true
    }
    let model = try opened.model(named: field.model)
    let start = try opened.read { reads in try reads.find(model, key: key) }
    guard let start else {
      throw CommandError(
        .notFound, code: "recordNotFound",
        "There is no record \(KeyText.text(key)) in \(model.name).",
        hint: "storecli query \(Shell.quoted(model.name))", model: model.name)
    }
    put([field], in: start)
    for binding in chain.reversed() { try follow(binding) }
  }

  /// Finds the records whose fields `binding` reads.
  private mutating func follow(_ binding: BindingSchema) throws {
    let inputs = try binding.inputs(in: opened.store.schema.models)
    switch binding.formula {
    case .derive:
      put(inputs, in: record(of: binding.target))
    case .twoWay(let twoWay) where twoWay.match.isEmpty:
      let record = record(of: binding.target) ?? record(of: twoWay.left)
      put(binding.boundFields + inputs, in: record)
    case .aggregate(let aggregate):
      // The binding reads several records, which may belong to the same model.
      let model = binding.target.model
      let own = aggregate.model == model ? Set(aggregate.match.map(\.target)) : nil
      put(
        inputs.filter { $0.model == model && own?.contains($0.field) ?? true },
        in: record(of: binding.target))
    case .copy, .lookup, .twoWay:
      guard let link = try link(of: binding), let record = record(of: link.target) else { return }
      let model = link.target.model
      let source = try opened.model(named: link.source.model)
      let values =
        link.pairs.map { ($0.source, record[$0.target]) } + zip(source.key, link.place).map { $0 }
      let found = try found(source, values)
      let names = [link.source.field] + values.map(\.0)
      put(names.map { BindingSchema.Field(model: source.name, field: $0) }, in: found)
      put(link.pairs.map { BindingSchema.Field(model: model, field: $0.target) }, in: record)
      if source.name != model {
        put(inputs.filter { $0.model == source.name }, in: found)
      } else if link.hasExpressions {
        // With two records of one model, it is unknown which of them the other fields belong to.
        return
      }
      put(inputs, in: record)
    }
  }

  /// nil if the binding reads no other record.
  private func link(of binding: BindingSchema) throws -> Link? {
    let target = binding.target
    switch binding.formula {
    case .copy(let source, let through):
      let reference = try opened.model(named: target.model).field(named: through)?.reference
      let schema = try opened.model(named: source.model)
      // SQLite compares names without regard to letter case.
      let column = reference?.column?.lowercased()
      let key = schema.fields.first { $0.column.lowercased() == column }?.name ?? schema.key[0]
      return Link(source: source, target: target, pairs: [(key, through)])
    case .lookup(let lookup):
      return Link(
        source: lookup.source, target: target,
        pairs: lookup.match.map { ($0.source, $0.target) }, place: lookup.place ?? [],
        hasExpressions: lookup.transform != nil)
    case .twoWay(let twoWay):
      let hasExpressions = twoWay.forward != nil || twoWay.backward != nil
      guard record(of: target) != nil else {
        return Link(
          source: target, target: twoWay.left,
          pairs: twoWay.match.map { ($0.target, $0.source) }, hasExpressions: hasExpressions)
      }
      return Link(
        source: twoWay.left, target: target,
        pairs: twoWay.match.map { ($0.source, $0.target) }, hasExpressions: hasExpressions)
    case .derive, .aggregate: return nil
    }
  }

  /// The only record of `model` with these values; nil when there is none.
  private func found(
    _ model: ModelSchema, _ values: [(field: String, value: SQLValue?)]
  ) throws -> DynamicRecord? {
    var condition: SQLText = "1"
    for (name, value) in values {
      guard let value, let field = model.field(named: name) else { return nil }
      condition.append(" AND \(identifier: field.column) = \(value)")
    }
    let query = StoreQuery<DynamicRecord>(model, where: .sql(condition))
    return try opened.read { reads in try reads.fetchFirst(query) }
  }

  /// The first record for a field is the nearest.
  private mutating func put(_ fields: [BindingSchema.Field], in record: DynamicRecord?) {
    for field in fields where !records.keys.contains(field) {
      records.updateValue(record, forKey: field)
      put(generated[field] ?? [], in: record)
    }
  }

  private func record(of field: BindingSchema.Field) -> DynamicRecord? { records[field] ?? nil }

  /// The key of the record that has `field`; nil if there is none.
  func key(of field: BindingSchema.Field) -> [SQLValue]? { record(of: field)?.key }

  /// Dates as ISO-8601; nil if the record does not exist.
  func value(of field: BindingSchema.Field) -> SQLValue? {
    guard let record = record(of: field), let value = record[field.field] else { return nil }
    return record.schema.field(named: field.field).map { FieldColumns.shown(value, $0) } ?? value
  }

  /// Whether the target follows `binding`: its condition is true for the record, and the condition
  /// of every binding in `others` with a higher priority is not. nil if the record does not exist,
  /// or a condition calls a function that this program does not have.
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

  /// Whether the binding's condition is true for the target's record.
  private func isMet(_ binding: BindingSchema) throws -> Bool? {
    guard let record = record(of: binding.target) else { return nil }
    guard let condition = binding.condition else { return true }
    guard binding.functions == nil else { return nil }
    var place: SQLText = "1"
    for (index, value) in zip(record.schema.keyIndices, record.key) {
      place.append(" AND \(identifier: record.schema.fields[index].column) = \(value)")
    }
    place.append(" AND (\(SQLText(sql: condition)))")
    let query = StoreQuery<DynamicRecord>(record.schema, where: .sql(place))
    return try opened.read { reads in try reads.count(query) } > 0
  }
}
