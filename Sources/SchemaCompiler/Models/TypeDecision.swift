/// What adoption decided about a column whose declaration leaves open what its values mean, and
/// from how many of them.
package struct TypeDecision: Hashable, Sendable {
  /// The field's name.
  package let field: String
  /// The column's declared type as the file has it; empty for none.
  package let declaredType: String
  /// What the field means from now on.
  package let type: FieldType
  /// How the column holds it; nil for the form of the store's own tables.
  package let form: FieldForm?
  /// How many values were read, NULLs not counted.
  package let valueCount: Int
  /// How many of them do not fit the declaration. With such values the type is a looser one.
  package let misfitCount: Int
  /// Whether the values of all rows were read. Adoption reads at most
  /// ``rowCountMax`` rows of a table.
  package let isComplete: Bool

  /// The most rows of one table that adoption reads to decide types: the first nine tenths from
  /// the table's beginning, the others from its end. Reading also ends after 16 MiB of values.
  package static let rowCountMax = 10_000

  /// Describes a decision; stores make these in ``Store/adoptableTables()``.
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

/// The owner's word on what a column of an adopted table means; see ``Store/adopt(_:types:)``.
public struct TypeChoice: Hashable, Sendable {
  /// The model's name, which is the table's.
  package var model: String
  /// The field's name.
  package var field: String
  /// What its values mean.
  package var type: FieldType
  /// How the column holds them. For nil, the stored dates or UUIDs show it.
  package var form: FieldForm?

  /// Describes a choice. Checks nothing: adopting does.
  public init(model: String, field: String, type: FieldType, form: FieldForm? = nil) {
    self.model = model
    self.field = field
    self.type = type
    self.form = form
  }
}

extension ModelSchema {
  /// Records a decision about one of the fields.
  package mutating func apply(_ decision: TypeDecision) {
    guard let index = fieldIndex(named: decision.field) else { return }
    fields[index].type = decision.type
    fields[index].form = decision.form
    // Without a declared type the field would pass for one of a STRICT table, whose column the type
    // alone describes.
    fields[index].declaredType =
      decision.type == .any && decision.declaredType.isEmpty ? nil : decision.declaredType
  }
}
