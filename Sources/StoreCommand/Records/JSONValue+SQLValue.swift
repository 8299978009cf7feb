import ModelStore
import RecordFormats

extension JSONValue {
  /// Carries a stored value: integers and reals as numbers, a blob as `{"$base64": …}`.
  init(_ value: SQLValue) { self.init(CellValue(value)) }

  /// The stored value that this one carries, the inverse of ``init(_:)``; true and false are 1 and
  /// 0. Nil for arrays and for objects that mark no blob.
  var storedValue: SQLValue? { cell.map { SQLValue($0) } }
}
