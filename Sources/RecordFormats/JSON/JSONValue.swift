/// A JSON text as a value: members keep their order, and 64-bit integers are exact and distinct
/// from reals.
///
/// Use it for input and output of a program; ``CellValue`` is one value of a record.
package enum JSONValue: Hashable, Sendable {
  case null
  case boolean(Bool)
  case integer(Int64)
  case real(Double)
  case string(String)
  case array([JSONValue])
  case object([Member])

  /// One name and value of an object.
  package struct Member: Hashable, Sendable {
    package var name: String
    package var value: JSONValue

    package init(_ name: String, _ value: JSONValue) {
      self.name = name
      self.value = value
    }
  }
}
