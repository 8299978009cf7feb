/// What all keys of one record have in common, however they are spelled.
///
/// The order of identities serves to search for them, and is not that of the keys.
enum RecordIdentity: Hashable, Comparable, Sendable {
  /// A key of one whole number that fits. Most keys are, and it takes no encoding.
  case integer(Int64)
  /// Any other key.
  case encoded(SortKey)

  /// A hash for tables that look up a key for each changed row; see ``SortKey/quickHash``.
  var quickHash: Int {
    switch self {
    case .integer(let number): Self.quickHash(of: number)
    case .encoded(let key): key.quickHash
    }
  }

  /// A hash of `number` that differs between processes.
  static func quickHash(of number: Int64) -> Int {
    var hash = UInt64(bitPattern: number) ^ seed
    hash = (hash ^ (hash >> 32)) &* 0x9E37_79B9_7F4A_7C15
    hash = (hash ^ (hash >> 32)) &* 0xD6E8_FEB8_6659_FD93
    return Int(bitPattern: UInt(hash ^ (hash >> 32)))
  }

  private static let seed = UInt64.random(in: 0 ... .max)
}
