/// A decision of adoption about a column whose declaration leaves the meaning of its values open,
/// and the number of values it is based on.
package struct TypeDecision: Hashable, Sendable {
  /// The field's name.
  package let field: String
  /// The column's declared type as the file has it; empty for none.
  package let declaredType: String
  /// The chosen type of the field.
  package let type: FieldType
  /// The form in which the column stores the type; nil for the form of the store's own tables.
  package let form: FieldForm?
  /// The number of values that were read, without NULLs.
  package let valueCount: Int
  /// The number of values that do not fit the declaration. If there are any, the type is less
  /// strict.
  package let misfitCount: Int
  /// Whether the values of all rows were read. Adoption reads at most ``rowCountMax`` rows of a
  /// table.
  package let isComplete: Bool

  /// The most rows of one table that adoption reads to decide types. Nine tenths come from the
  /// table's beginning, the rest from its end. Reading also stops after 16 MiB of values.
  package static let rowCountMax = 10_000

  /// Creates a decision. ``Store/adoptableTables()`` returns these values.
  package init(
    field: String, declaredType: String, type: FieldType, form: FieldForm? = nil,
    valueCount: Int = 0, misfitCount: Int = 0, isComplete: Bool = true
  ) {
    self.field = field
    self.declaredType = declaredType
    self.type = type
    self.form = form
    self.valueCount = valueCount
    self.misfitCount = misfitCount
    self.isComplete = isComplete
  }
}

/// The meaning that you choose for a column of an adopted table; see ``Store/adopt(_:types:)``.
public struct TypeChoice: Hashable, Sendable {
  /// The model's name, which is the table's.
  package var model: String
  /// The field's name.
  package var field: String
  /// The meaning of its values.
  package var type: FieldType
  /// The form in which the column stores them. If nil, the stored dates or UUIDs determine it.
  package var form: FieldForm?

  /// Creates a choice without checking it; adopting checks it.
  public init(model: String, field: String, type: FieldType, form: FieldForm? = nil) {
    self.model = model
    self.field = field
    self.type = type
    self.form = form
  }
}

extension ModelSchema {
  /// Applies a decision about one of the fields.
  package mutating func apply(_ decision: TypeDecision) {
    guard let index = fieldIndex(named: decision.field) else { return }
    fields[index].type = decision.type
    fields[index].form = decision.form
    // Without a declared type the field would count as part of a STRICT table, where the type alone
    // describes the column.
    fields[index].declaredType =
      decision.type == .any && decision.declaredType.isEmpty ? nil : decision.declaredType
  }
}
