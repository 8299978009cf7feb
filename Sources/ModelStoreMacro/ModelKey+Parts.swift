#if Macros
  public import ModelStore

  extension ModelKey {
    /// The values of a composite key, in key order.
    ///
    /// - Throws: ``ColumnError`` when there are fewer or more values than types, or one is of
    ///   another type.
    public static func parts<each Part: ColumnValue>(
      of values: [SQLValue], as types: repeat (each Part).Type
    ) throws(ColumnError) -> (repeat each Part) {
      var count = 0
      for _ in repeat each types { count += 1 }
      guard values.count == count else {
        throw ColumnError(
          problem: .unrepresentable("the key has \(count) values, not \(values.count)"))
      }
      var index = -1
      func next<Value: ColumnValue>(_ type: Value.Type) throws(ColumnError) -> Value {
        index += 1
        return try Value(sqlValue: values[index])
      }
      return (repeat try next(each types))
    }
  }
#endif
