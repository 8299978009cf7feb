/// One binding as a plain value: which field follows what. It stands in the file's catalog as
/// JSON; the triggers that keep it are derived from it and from the models.
///
/// A bound field is not for writing: whatever a writer puts there is put right again in the same
/// statement. Only the ends of a ``Formula/twoWay(_:)`` are. To declare a binding use
/// ``FieldBinding``.
public struct BindingSchema: Hashable, Sendable, Codable {
  /// One field of one model, by name.
  package struct Field: Hashable, Sendable, Codable, CustomStringConvertible {
    /// The model's name.
    package var model: String
    /// The field's name.
    package var field: String

    /// The field of that name; whether there is one is found out when the binding is added.
    package init(model: String, field: String) {
      self.model = model
      self.field = field
    }

    package var description: String { "\(model).\(field)" }
  }

  /// What the field is kept equal to.
  package enum Formula: Hashable, Sendable, Codable {
    /// A field of the record that the target's field `through` refers to.
    ///
    /// Where the reference is NULL or names no record, the target holds its declared default, or
    /// NULL when it has none. A target that has no default and takes no NULL keeps its last value
    /// until its reference names a record again; its reference may therefore not be optional.
    case copy(source: Field, through: String)
    /// A deterministic SQL expression over columns of the same record.
    case derive(sql: String)
    /// A value of one other record, found by any fields of it, or of one record for all.
    case lookup(Lookup)
    /// What several records come to: how many, their sum, the first of them …
    case aggregate(Aggregate)
    /// Two fields of which each follows the other; the binding's target is the right one.
    case twoWay(TwoWay)
  }

  /// How much of the target's text follows.
  package enum Mode: String, Hashable, Sendable, Codable {
    /// The number inside the target's text; the text around it is free. A value that is not a text,
    /// or not a number, replaces the whole. A text without a digit, and NULL, stay as they are; so
    /// does the whole text while the value is NULL.
    case numberInText
  }

  /// Unique among the store's bindings, upper and lower case alike. Events name it as their origin.
  public var name: String
  /// The field that follows.
  package var target: Field
  /// What it follows.
  package var formula: Formula
  /// The SQL condition, over the target's record, under which the binding is in force; nil for
  /// always. While it is not, the field is free and keeps what it has.
  package var condition: String?
  /// Among bindings of one field the one with the highest priority is in force whose condition
  /// holds. A binding that stands alone has none.
  package var priority: Int?
  /// nil for the whole value.
  package var mode: Mode?
  /// The functions in Swift that its expressions call, ASCII letters in lower case; nil for none.
  /// Only programs that register them can write what sets off the binding.
  package var functions: [String]?

  /// - Parameter name: The target, as `Album.artistName`, when nil.
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
  /// The fields that follow: both ends of a two-way binding.
  package var boundFields: [Field] {
    if case .twoWay(let twoWay) = formula { [twoWay.left, target] } else { [target] }
  }

  /// Notes which functions in Swift the expressions call.
  package mutating func calls(_ names: [String]) {
    functions = names.isEmpty ? nil : names.map(\.asciiFolded).sorted()
  }
}

extension BindingSchema: CustomStringConvertible {
  /// The formula for people: `Album.artistName = Artist.name through Album.artistID`.
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
