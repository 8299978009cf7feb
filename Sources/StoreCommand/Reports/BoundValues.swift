import ModelStore
import RecordFormats

/// The bound fields among those that a command assigns: their bindings replace other values.
struct BoundValues {
  private let schema: ModelSchema
  /// The binding of each assigned field that has one.
  private let bindings: [String: String]
  /// The warnings about the records that were written.
  private var warnings: [CommandError] = []

  init(_ schema: ModelSchema, in opened: OpenedStore) throws {
    self.schema = schema
    let own = try opened.store.bindings().filter { $0.target.model == schema.name }
    bindings = Dictionary(own.map { ($0.target.field, $0.name) }) { first, _ in first }
  }

  /// Compares what a command assigned to the record of `key` with what is stored now.
  mutating func note(
    _ assigned: [String: SQLValue], key: [SQLValue], isDryRun: Bool,
    _ transaction: borrowing WriteTransaction
  ) throws {
    let names = schema.fields.map(\.name).filter { assigned[$0] != nil && bindings[$0] != nil }
    guard !names.isEmpty, let record = try stored(key, transaction) else { return }
    for name in names {
      guard let binding = bindings[name], let value = assigned[name], let stored = record[name],
        !Self.isSame(value, stored)
      else { continue }
      let verb = isDryRun ? "would be" : "was"
      warnings.append(
        CommandError(
          .ok, code: "bound",
          "\(schema.name).\(name) follows the binding \(binding); your value "
            + "\(CellText.display(CellValue(value))) \(verb) replaced by "
            + "\(CellText.display(CellValue(stored))).", model: schema.name, field: name))
    }
  }

  /// The record as it is now; nil if another of its values cannot be read, which the command need
  /// not be about.
  private func stored(
    _ key: [SQLValue], _ transaction: borrowing WriteTransaction
  ) throws -> DynamicRecord? {
    do {
      return try transaction.find(schema, key: key)
    } catch let error as StoreError where error.code == .invalidValue {
      return nil
    }
  }

  /// Prints the warnings.
  func warn(_ context: CommandContext) {
    for warning in warnings {
      context.console.warn(
        warning.warningText(
          as: context.options.errorFormat, palette: context.console.talkTerminal.palette))
    }
  }

  /// Whether two values are equal, as an integer in a column of reals is.
  private static func isSame(_ value: SQLValue, _ stored: SQLValue) -> Bool {
    switch (value, stored) {
    case (.integer(let whole), .real(let number)), (.real(let number), .integer(let whole)):
      Double(whole) == number
    default: value == stored
    }
  }
}
