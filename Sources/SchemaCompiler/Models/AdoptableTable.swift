/// A table or view of the file without a declared model: the model it would become, or the reason
/// why it cannot become one.
public struct AdoptableTable: Hashable, Sendable {
  /// The result of adopting the table.
  package enum Result: Hashable, Sendable {
    /// The model: named like the table, with one field for each column and
    /// ``ModelSchema/isAdopted`` set.
    case model(ModelSchema)
    /// The reason, as a sentence that names the table and, if there is one, the remedy.
    case refused(reason: String)
  }

  /// The table's name as the file has it.
  public let name: String
  /// The model that it becomes, or why it cannot.
  package let result: Result
  /// Sentences about what the model cannot express or relies on. For example, constraints that the
  /// file enforces anyway, and key columns that accept NULL.
  public let notes: [String]
  /// The decisions about columns whose declaration leaves the meaning of their values open, in
  /// column order.
  package let decisions: [TypeDecision]

  /// Describes a table. ``Store/adoptableTables()`` returns these values.
  package init(
    name: String, result: Result, notes: [String] = [], decisions: [TypeDecision] = []
  ) {
    self.name = name
    self.result = result
    self.notes = notes
    self.decisions = decisions
  }

  /// The model, or nil when the table cannot become one.
  public var schema: ModelSchema? {
    if case .model(let schema) = result { schema } else { nil }
  }

  /// The reason why the table cannot become a model, or nil when it can.
  public var reason: String? {
    if case .refused(let reason) = result { reason } else { nil }
  }
}
