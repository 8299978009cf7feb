/// A table or view of the file that no model was declared for: what it would be as a model, or why
/// it cannot be one.
public struct AdoptableTable: Hashable, Sendable {
  /// What adoption would make of the table.
  package enum Result: Hashable, Sendable {
    /// The model: named as the table, one field for each column, ``ModelSchema/isAdopted`` set.
    case model(ModelSchema)
    /// Why not, as a sentence that names the table and, where there is one, the remedy.
    case refused(reason: String)
  }

  /// The table's name as the file has it.
  public let name: String
  /// The model that it becomes, or why it cannot.
  package let result: Result
  /// What the model cannot express or relies on, one sentence each: constraints that hold in the
  /// file all the same, key columns that accept NULL.
  public let notes: [String]
  /// What was decided about columns whose declaration leaves their values' meaning open, in column
  /// order.
  package let decisions: [TypeDecision]

  /// Describes a table; stores make these in ``Store/adoptableTables()``.
  package init(
    name: String, result: Result, notes: [String] = [], decisions: [TypeDecision] = []
  ) {
    self.name = name
    self.result = result
    self.notes = notes
    self.decisions = decisions
  }

  /// The model, or nil when the table cannot be one.
  public var schema: ModelSchema? {
    if case .model(let schema) = result { schema } else { nil }
  }

  /// Why the table cannot be a model, or nil when it can.
  public var reason: String? {
    if case .refused(let reason) = result { reason } else { nil }
  }
}
