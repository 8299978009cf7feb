/// One value of a record, as the formats write it and read it.
///
/// Numbers are exact: integers have all 64 bits, and a real stays apart from an integer. JSON marks
/// bytes, so that they are not text; see ``JSONValue/init(_:)``.
package enum CellValue: Hashable, Sendable {
  case null
  case integer(Int64)
  case real(Double)
  case text(String)
  case blob([UInt8])
}
