import Synchronization

@testable import ModelStore

/// The models of ``BindingZoo`` as types, for what only takes key paths.
protocol ZooModel: Model where Key == Int64 {
  /// By the places of the zoo's fields.
  var values: [SQLValue] { get }

  init(values: [SQLValue])
}

struct ZooParent: ZooModel {
  static let definition = defined(as: "Parent")
  let values: [SQLValue]
}

struct ZooChild: ZooModel {
  static let definition = defined(as: "Child")
  let values: [SQLValue]
}

struct ZooSetting: ZooModel {
  static let definition = defined(as: "Setting")
  let values: [SQLValue]
}

struct ZooSummary: ZooModel {
  static let definition = defined(as: "Summary")
  let values: [SQLValue]
}

/// Where a model has a value of a type.
struct ZooPlace<Value: ColumnValue>: Hashable, Sendable {
  let index: Int
}

extension ZooModel {
  subscript<Value: ColumnValue>(place: ZooPlace<Value>) -> Value {
    do {
      return try Value(sqlValue: values[place.index])
    } catch {
      preconditionFailure("\(values): \(error)")
    }
  }

  var key: Int64 { self[ZooPlace(index: 0)] }

  init(row: borrowing RowView) throws {
    self.init(values: try row.values())
  }

  func encode(to arguments: inout ArgumentWriter) throws {
    for (index, value) in values.enumerated() { arguments.set(value, at: index) }
  }

  static func path<Value: ColumnValue>(
    _ place: ZooPlace<Value>
  ) -> any KeyPath<Self, Value> & Sendable {
    \Self.[place]
  }

  fileprivate static func defined(as name: String) -> ModelDefinition<Self> {
    guard let schema = BindingZoo().models.first(where: { $0.name == name }) else {
      preconditionFailure("The zoo has no \(name).")
    }
    return ModelDefinition(
      name, key: path(ZooPlace<Int64>(index: 0)),
      fields: schema.fields.enumerated().map { index, field in
        switch (field.type, field.isOptional) {
        case (.integer, false): Self.field(field, ZooPlace<Int64>(index: index))
        case (.integer, true): Self.field(field, ZooPlace<Int64?>(index: index))
        case (.real, _): Self.field(field, ZooPlace<Double?>(index: index))
        case (_, false): Self.field(field, ZooPlace<String>(index: index))
        case (_, true): Self.field(field, ZooPlace<String?>(index: index))
        }
      })
  }

  private static func field<Value: ColumnValue>(
    _ field: FieldSchema, _ place: ZooPlace<Value>
  ) -> ModelField<Self> {
    ModelField(
      field.name, path(place), isUnique: field.isUnique, defaultSQL: field.defaultSQL,
      collation: field.collation, reference: field.reference)
  }
}

/// What a bound field of one record is bound to in memory.
struct ZooObject: Sendable {
  let model: String
  let field: String
  let key: Int64
  /// What the object's property has.
  let value: @Sendable () throws -> SQLValue
}

extension Store {
  /// Binds the bound fields of the zoo's records with `keys` into objects, one for each field.
  func zooObjects(
    keys: [Int64]
  ) throws -> (objects: [ZooObject], subscriptions: [ObservationToken]) {
    let models: [any ZooModel.Type] = [
      ZooParent.self, ZooChild.self, ZooSetting.self, ZooSummary.self,
    ]
    var objects: [ZooObject] = []
    var subscriptions: [ObservationToken] = []
    for model in models {
      for (index, field) in model.schema.fields.enumerated()
      where BindingZoo.boundFields.contains(.init(model: model.schema.name, field: field.name)) {
        for key in keys {
          let (object, subscription) = try zooObject(model, index, field, key)
          objects.append(object)
          subscriptions.append(subscription)
        }
      }
    }
    return (objects, subscriptions)
  }

  private func zooObject<M: ZooModel>(
    _ model: M.Type, _ index: Int, _ field: FieldSchema, _ key: Int64
  ) throws -> (ZooObject, ObservationToken) {
    // Each begins with what no field of the zoo takes.
    switch (field.type, field.isOptional) {
    case (.integer, false): try zooObject(model, field, key, ZooPlace<Int64>(index: index), -999)
    case (.integer, true): try zooObject(model, field, key, ZooPlace<Int64?>(index: index), -999)
    case (.real, _): try zooObject(model, field, key, ZooPlace<Double?>(index: index), -999)
    case (_, false): try zooObject(model, field, key, ZooPlace<String>(index: index), "unset")
    case (_, true): try zooObject(model, field, key, ZooPlace<String?>(index: index), "unset")
    }
  }

  private func zooObject<M: ZooModel, Value: ColumnValue>(
    _ model: M.Type, _ field: FieldSchema, _ key: Int64, _ place: ZooPlace<Value>, _ unset: Value
  ) throws -> (ZooObject, ObservationToken) {
    let label = Label(unset)
    let subscription = try subject(M.path(place), of: key).stream.bind(to: label, \.value)
    return (
      ZooObject(model: M.schema.name, field: field.name, key: key) { try label.value.sqlValue() },
      subscription
    )
  }
}

/// An object with a property, as a program would show it.
private final class Label<Value: Sendable>: Sendable {
  private let state: Mutex<Value>

  init(_ value: Value) { state = Mutex(value) }

  var value: Value {
    get { state.withLock { $0 } }
    set { state.withLock { $0 = newValue } }
  }
}

extension BindingZoo {
  /// Everything that a binding writes: targets, and both ends of what goes both ways.
  static let boundFields = Set(
    bindings.flatMap { binding in
      guard case .twoWay(let pair) = binding.formula else { return [binding.target] }
      return [pair.left, binding.target]
    })
}
