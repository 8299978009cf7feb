extension SQLText.StringInterpolation {
  /// Appends a value of any type that a field can have, as an argument in the form in which fields
  /// store it. `nil` becomes NULL.
  ///
  /// If the value cannot be stored, for example an integer over `Int64.max`, the statement throws
  /// ``StoreError`` with code `invalidValue`.
  public mutating func appendInterpolation(_ value: (some ColumnValue)?) {
    do throws(ColumnError) {
      appendInterpolation(try value?.sqlValue() ?? .null)
    } catch {
      appendUnstorable("\(error)")
    }
  }
}
