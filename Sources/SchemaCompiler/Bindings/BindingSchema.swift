/// One binding as a plain value: a field and the formula that it follows.
///
/// The file's catalog stores it as JSON. The triggers that keep the field up to date are derived
/// from it and from the models.
///
/// A bound field is not meant to be written: in the same statement the binding replaces any value
/// that a writer sets. Only the ends of a two-way binding can be written. To declare a
/// binding use ``FieldBinding``.
public struct BindingSchema: Hashable, Sendable, Codable {
  /// One field of one model, by name.
  package struct Field: Hashable, Sendable, Codable, CustomStringConvertible {
    /// The model's name.
    package var model: String
    /// The field's name.
    package var field: String

    /// Creates a reference to a field by name. Adding the binding checks whether the field exists.
    package init(model: String, field: String) {
      self.model = model
      self.field = field
    }

    package var description: String { "\(model).\(field)" }
  }

  /// The value that the field follows.
  package enum Formula: Hashable, Sendable, Codable {
    /// A field of the record that the target's field `through` refers to.
    ///
    /// If the reference is NULL or names no record, the target holds its declared default, or NULL
    /// without a default. A target without a default that does not accept NULL keeps its last value
    /// until its reference names a record again. Its reference must therefore not be optional.
    case copy(source: Field, through: String)
    /// A deterministic SQL expression over columns of the same record.
    case derive(sql: String)
    /// A value of one other record, found by any fields of it, or of one record for all targets.
    case lookup(Lookup)
    /// A value computed from several records, such as their number, their sum or the first of them.
    case aggregate(Aggregate)
    /// Two fields that follow each other; the binding's target is the right one.
    case twoWay(TwoWay)
  }

  /// The part of the target's text that follows the formula.
  package enum Mode: String, Hashable, Sendable, Codable {
    /// The number inside the target's text; the surrounding text is free.
    ///
    /// A target that is not a text, or a value that is not a number, is replaced completely. A text
    /// without a digit, and NULL, are left unchanged. The whole text is left unchanged while the
    /// value is NULL.
    case numberInText
  }

  /// Unique among the store's bindings, ignoring case. Events name it as their origin.
  public var name: String
  /// The bound field.
  package var target: Field
  /// The formula that it follows.
  package var formula: Formula
  /// The SQL condition over the target's record under which the binding applies; nil for always.
  /// While the condition is not satisfied, the field can be written and keeps its value.
  package var condition: String?
  /// The priority among bindings of one field. Of the bindings whose condition is satisfied, the
  /// one with the highest priority applies. A single binding has no priority.
  package var priority: Int?
  /// nil for the whole value.
  package var mode: Mode?
  /// The Swift functions that its expressions call, with ASCII letters in lower case; nil for none.
  /// Only programs that register these functions can write records that trigger the binding.
  package var functions: [String]?

  /// - Parameter name: If nil, the target's name, such as `Album.artistName`.
  package init(
    name: String? = nil, target: Field, formula: Formula, condition: String? = nil,
    priority: Int? = nil, mode: Mode? = nil, functions: [String]? = nil
  ) {
    self.name = name ?? target.description
    self.target = target
    self.formula = formula
    self.condition = condition
    self.priority = priority
    self.mode = mode
    if let functions { calls(functions) }
  }
}

extension BindingSchema {
  /// The bound fields; for a two-way binding both ends.
  package var boundFields: [Field] {
    if case .twoWay(let twoWay) = formula { [twoWay.left, target] } else { [target] }
  }

  /// Stores which Swift functions the expressions call.
  package mutating func calls(_ names: [String]) {
    functions = names.isEmpty ? nil : names.map(\.asciiFolded).sorted()
  }
}

extension BindingSchema: CustomStringConvertible {
  /// The formula as readable text: `Album.artistName = Artist.name through Album.artistID`.
  public var description: String {
    var text = formulaText
    if mode == .numberInText { text += ", the number in the text" }
    if let condition { text += " when \(condition)" }
    if let priority { text += " (priority \(priority))" }
    if let functions {
      text += ", calling \(functions.joined(separator: ", ")), which other programs do not have"
    }
    return text
  }

  private var formulaText: String {
    switch formula {
    case .copy(let source, let reference):
      "\(target) = \(source) through \(target.model).\(reference)"
    case .derive(let sql):
      "\(target) = \(sql)"
    case .lookup(let lookup):
      "\(target) = \(lookup.text(for: target))"
    case .aggregate(let aggregate):
      "\(target) = \(aggregate.text(for: target))"
    case .twoWay(let twoWay):
      twoWay.text(for: target)
    }
  }
}
