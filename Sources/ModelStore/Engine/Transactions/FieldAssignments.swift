/// The fields that one statement sets, each with its new value. You fill it in the closure of
/// ``WriteTransaction/update(_:_:)``.
public struct FieldAssignments<M: Model> {
  /// The values by field name, or the first error.
  private(set) var values: Result<[String: SQLValue], any Error> = .success([:])

  /// Sets `field` to `value`. For a field that is set twice, the last value counts.
  ///
  /// If the value cannot be stored, the update throws and changes nothing.
  public mutating func set<Value: ColumnValue>(
    _ field: any KeyPath<M, Value> & Sendable, to value: Value
  ) {
    values = values.flatMap { earlier in
      Result {
        let schema = M.schema
        let index = try WriteTransaction.index(of: field)
        var values = earlier
        values[schema.fields[index].name] = try WriteTransaction.value(value, index, schema)
        return values
      }
    }
  }
}
