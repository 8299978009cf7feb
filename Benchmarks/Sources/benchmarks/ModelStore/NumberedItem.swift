import ModelStore
import Synchronization

/// A number as a type: ``NumberedItem`` needs a type for each model.
protocol Numeral: Sendable {
  static var value: Int { get }
}

enum Zero: Numeral {
  static var value: Int { 0 }
}

/// Twice a number.
enum Double2<Half: Numeral>: Numeral {
  static var value: Int { 2 * Half.value }
}

/// Twice a number and one.
enum Double2Plus1<Half: Numeral>: Numeral {
  static var value: Int { 2 * Half.value + 1 }
}

/// One of many models: its number is part of its name.
struct NumberedItem<Number: Numeral>: NumberedModel {
  var id: Int64
  var value: Int64
  var title: String
  var derived: Int64?

  static var definition: ModelDefinition<Self> {
    NumberedItems.definition {
      ModelDefinition(
        "Item\(Number.value)", key: \.id,
        fields: [
          .init("id", \.id), .init("value", \.value), .init("title", \.title),
          .init("derived", \.derived),
        ])
    }
  }

  static var binding: FieldBinding {
    NumberedItems.binding(of: Self.self) { .derive(\Self.derived, from: "value * 2") }
  }

  var key: Int64 { id }

  init(row: borrowing RowView) throws {
    id = try row.decode(at: 0)
    value = try row.decode(at: 1)
    title = try row.decode(at: 2)
    derived = try row.decode(at: 3)
  }

  func encode(to arguments: inout ArgumentWriter) throws {
    try id.encode(to: &arguments, at: 0)
    try value.encode(to: &arguments, at: 1)
    try title.encode(to: &arguments, at: 2)
    try derived.encode(to: &arguments, at: 3)
  }
}

/// A model with a binding of its own.
protocol NumberedModel: Model {
  static var binding: FieldBinding { get }
}

/// The models ``NumberedItem``.
enum NumberedItems {
  /// The definitions and bindings made so far. A type with a parameter has no stored static
  /// properties, and its key paths are made each time that they are named.
  private static let definitions = Mutex<[ObjectIdentifier: any Sendable]>([:])
  private static let bindings = Mutex<[ObjectIdentifier: FieldBinding]>([:])

  static func definition<M: Model>(_ make: () -> ModelDefinition<M>) -> ModelDefinition<M> {
    definitions.withLock { definitions in
      let identifier = ObjectIdentifier(M.self)
      if let made = definitions[identifier] as? ModelDefinition<M> { return made }
      let definition = make()
      definitions[identifier] = definition
      return definition
    }
  }

  static func binding<M: Model>(of model: M.Type, _ make: () -> FieldBinding) -> FieldBinding {
    let identifier = ObjectIdentifier(model)
    if let made = bindings.withLock({ $0[identifier] }) { return made }
    let binding = make()
    bindings.withLock { $0[identifier] = binding }
    return binding
  }

  /// The models with the numbers below `count`.
  static func types(_ count: Int) -> [any NumberedModel.Type] {
    (0..<count).map { model(numeral($0)) }
  }

  /// The models ``RevisedItem`` with the numbers below `count`.
  static func revisedTypes(_ count: Int) -> [any Model.Type] {
    (0..<count).map { revised(numeral($0)) }
  }

  private static func revised<Number: Numeral>(_ number: Number.Type) -> any Model.Type {
    RevisedItem<Number>.self
  }

  private static func numeral(_ number: Int) -> any Numeral.Type {
    number == 0 ? Zero.self : twice(numeral(number / 2), plusOne: !number.isMultiple(of: 2))
  }

  private static func twice<Half: Numeral>(
    _ half: Half.Type, plusOne: Bool
  ) -> any Numeral.Type {
    plusOne ? Double2Plus1<Half>.self : Double2<Half>.self
  }

  private static func model<Number: Numeral>(_ number: Number.Type) -> any NumberedModel.Type {
    NumberedItem<Number>.self
  }
}
