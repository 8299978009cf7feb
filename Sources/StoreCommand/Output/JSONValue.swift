/// A JSON text as a value: members in their order, 64-bit integers exact and apart from reals.
///
/// It is for what travels in and out of the command line; records inside the store are `SQLValue`.
enum JSONValue: Hashable, Sendable {
  case null
  case boolean(Bool)
  case integer(Int64)
  case real(Double)
  case string(String)
  case array([JSONValue])
  case object([Member])

  /// One name and value of an object.
  struct Member: Hashable, Sendable {
    var name: String
    var value: JSONValue

    init(_ name: String, _ value: JSONValue) {
      self.name = name
      self.value = value
    }
  }
}
