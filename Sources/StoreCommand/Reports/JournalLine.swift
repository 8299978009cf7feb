import ModelStore
import RecordFormats

/// One change of the journal and its author: one line of a history.
struct JournalLine {
  let change: ChangeLine
  let position: JournalPosition
  let transaction: JournalTransaction

  /// - Parameter models: The models of the store by name.
  init(
    _ change: JournalChange, of transaction: JournalTransaction, in models: [String: ModelSchema]
  ) {
    let model = models[change.model]
    self.change = ChangeLine(
      operation: change.operation, model: change.model, key: change.key,
      fields: Self.fields(of: change, model),
      origin: change.binding.map(Origin.binding) ?? (transaction.isForeign ? .foreign : .user),
      schema: model)
    position = change.position
    self.transaction = transaction
  }

  /// The fields that the line shows; for an inserted or deleted record, also the key's.
  private static func fields(
    of change: JournalChange, _ schema: ModelSchema?
  ) -> [ChangeLine.Field] {
    let others = change.fields.map { ChangeLine.Field(name: $0.name, old: $0.old, new: $0.new) }
    guard change.operation != .update, change.detail == .full, let names = schema?.key,
      names.count == change.key.count
    else { return others }
    let isGone = change.operation == .delete
    return zip(names, change.key).map { name, value in
      ChangeLine.Field(name: name, old: isGone ? value : nil, new: isGone ? nil : value)
    } + others
  }

  /// The models of a store by name, looked up once for all lines.
  static func models(of schema: StoreSchema) -> [String: ModelSchema] {
    Dictionary(schema.models.map { ($0.name, $0) }) { first, _ in first }
  }

  /// The lines of transactions, in the order in which the changes were made.
  static func lines(
    of transactions: [JournalTransaction], in schema: StoreSchema
  ) -> [JournalLine] {
    let models = models(of: schema)
    return transactions.flatMap { transaction in
      transaction.changes.map { JournalLine($0, of: transaction, in: models) }
    }
  }

  /// Who made the change: `anna (myapp[4121])`.
  var who: String {
    guard let program = transaction.program else { return "foreign writer" }
    let process = transaction.process.map { "[\($0)]" } ?? ""
    guard let author = transaction.signature.author else { return program + process }
    return "\(author) (\(program)\(process))"
  }

  /// `cli`, `app`, `foreign` or `binding:NAME`.
  var origin: String {
    if case .binding = change.origin { return "\(change.origin)" }
    guard let program = transaction.program else { return "foreign" }
    return program == "storecli" ? "cli" : "app"
  }

  /// The line for programs.
  var json: JSONValue {
    .object(placeMembers + change.changeMembers + [.init("origin", .string(origin))])
  }

  /// The position, the time and the author.
  var placeMembers: [JSONValue.Member] {
    [
      .init("position", .integer(position.rawValue)),
      .init("txn", transaction.id.map { .string($0.description) } ?? .null),
      .init("time", transaction.time.map { .string(TimeText.iso($0)) } ?? .null),
      .init("actor", actor),
    ]
  }

  private var actor: JSONValue {
    guard let program = transaction.program else { return .null }
    func text(_ text: String?) -> JSONValue { text.map { .string($0) } ?? .null }
    return .object([
      .init("program", .string(program)),
      .init("pid", transaction.process.map { .integer($0) } ?? .null),
      .init("author", text(transaction.signature.author)),
      .init("tag", text(transaction.signature.tag)),
    ])
  }
}
