/// One value of a record, as the formats write and read it.
///
/// Numbers are exact: integers have all 64 bits, and a real is distinct from an integer. In JSON,
/// bytes are marked to distinguish them from text; see ``JSONValue/init(_:)``.
package enum CellValue: Hashable, Sendable {
  case null
  case integer(Int64)
  case real(Double)
  case text(String)
  case blob([UInt8])
}
