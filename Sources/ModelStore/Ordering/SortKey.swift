/// The position of one row in a sorted result: bytes whose order is the order SQLite gives the row.
///
/// Compare keys only with keys made from the same terms. Equal keys mean rows that SQLite ranks
/// equal, primary key included. A key of up to 23 bytes is stored inline. A longer key keeps its
/// first 16 bytes inline and the rest on the heap.
///
/// The encoding of one value, before a descending term inverts every byte except NULL's:
///
///     NULL      00 when first, FF when last
///     number    40 for zero, 40 + class and the magnitude for positive numbers,
///               40 - class and the inverted magnitude for negative ones
///     text      A0, the collated bytes escaped, 00
///     blob      B0, the bytes escaped, 00
///
/// No encoding is a prefix of another, so keys need no length and pad with zeros.
struct SortKey: Hashable, Sendable {
  private let storage: Storage

  /// - Parameters:
  ///   - values: One value per term, as the column stores it: affinity already applied.
  ///   - terms: The order; a term of a custom collation traps (see ``SortTerm/hasByteOrder``).
  ///   - key: The primary key's values, which break ties in ascending BINARY order.
  /// - Complexity: Linear in the bytes of the values; no allocation while they fit in 23 bytes.
  init(values: [SQLValue], terms: [SortTerm], key: [SQLValue]) {
    precondition(
      values.count == terms.count,
      "A sort key needs one value per term, not \(values.count) for \(terms.count).")
    var encoder = SortKeyEncoder()
    for index in terms.indices { encoder.encode(values[index], by: terms[index]) }
    for value in key { encoder.encode(value, by: SortTerm()) }
    storage = encoder.storage
  }

  /// Creates a key from the output of `encoder`: one value for each term, then the primary key's
  /// values.
  init(_ encoder: SortKeyEncoder) {
    storage = encoder.storage
  }

  /// The byte at `index`; 0 beyond the end.
  func byte(at index: Int) -> UInt8 {
    storage.byte(at: index)
  }

  /// The first 16 bytes, as two numbers. Keys with different ones have their order.
  var head: (UInt64, UInt64) { storage.head }

  /// A hash for tables that look up a key for each changed row. It takes a tenth of the time of
  /// `hashValue`. Equal keys have equal hashes, which differ between processes.
  var quickHash: Int {
    let (head, rest) = (storage.head, storage.restHash)
    var hash = head.0 ^ Self.seed
    hash = (hash ^ (hash >> 32)) &* 0x9E37_79B9_7F4A_7C15 ^ head.1
    hash = (hash ^ (hash >> 32)) &* 0x9E37_79B9_7F4A_7C15 ^ rest
    hash = (hash ^ (hash >> 32)) &* 0xD6E8_FEB8_6659_FD93
    return Int(bitPattern: UInt(hash ^ (hash >> 32)))
  }

  private static let seed = UInt64.random(in: 0 ... .max)
}

extension SortKey: Comparable {
  static func == (lhs: SortKey, rhs: SortKey) -> Bool {
    let (left, right) = (lhs.storage.head, rhs.storage.head)
    return left == right && lhs.storage.isRestEqual(to: rhs.storage)
  }

  static func < (lhs: SortKey, rhs: SortKey) -> Bool {
    let (left, right) = (lhs.storage.head, rhs.storage.head)
    if left.0 != right.0 { return left.0 < right.0 }
    if left.1 != right.1 { return left.1 < right.1 }
    return lhs.storage.isRestLess(than: rhs.storage)
  }
}

extension SortKey {
  /// Up to 23 bytes, or 16 bytes and an array. It takes three words: the case is stored in the byte
  /// that the inline bytes leave free.
  enum Storage: Hashable, Sendable {
    /// Bytes 0–7, 8–15, 16–19, 20–21 and 22, big-endian, padded with zeros.
    case inline(UInt64, UInt64, UInt32, UInt16, UInt8)
    /// Bytes 0–7 and 8–15, big-endian, and the others.
    case spilled(UInt64, UInt64, ContiguousArray<UInt8>)

    /// The first 16 bytes.
    var head: (UInt64, UInt64) {
      switch self {
      case .inline(let first, let second, _, _, _): (first, second)
      case .spilled(let first, let second, _): (first, second)
      }
    }

    /// Whether the bytes after the sixteenth are less than those of `other`.
    func isRestLess(than other: Storage) -> Bool {
      switch (self, other) {
      case (.spilled(_, _, let rest), .spilled(_, _, let otherRest)):
        rest.lexicographicallyPrecedes(otherRest)
      default:
        // A short key has fewer bytes than these seven. If all seven were equal to those of a
        // longer key, it would be a prefix of that key, which cannot happen.
        nextSevenBytes < other.nextSevenBytes
      }
    }

    /// Whether the bytes after the sixteenth are those of `other`.
    func isRestEqual(to other: Storage) -> Bool {
      switch (self, other) {
      case (.spilled(_, _, let rest), .spilled(_, _, let otherRest)): rest == otherRest
      case (.inline, .inline): nextSevenBytes == other.nextSevenBytes
      default: false
      }
    }

    func byte(at index: Int) -> UInt8 {
      func byte(_ bits: UInt64, _ index: Int) -> UInt8 {
        UInt8(truncatingIfNeeded: bits >> UInt64(56 - 8 * index))
      }
      switch index {
      case 0..<8: return byte(head.0, index)
      case 8..<16: return byte(head.1, index - 8)
      default:
        switch self {
        case .inline: return index < 23 ? byte(nextSevenBytes << 8, index - 16) : 0
        case .spilled(_, _, let rest): return index - 16 < rest.count ? rest[index - 16] : 0
        }
      }
    }

    /// A number that is equal for equal bytes after the sixteenth.
    var restHash: UInt64 {
      switch self {
      case .inline: nextSevenBytes
      case .spilled(_, _, let rest): UInt64(truncatingIfNeeded: rest.hashValue)
      }
    }

    private var nextSevenBytes: UInt64 {
      switch self {
      case .inline(_, _, let four, let two, let one):
        UInt64(four) << 24 | UInt64(two) << 8 | UInt64(one)
      case .spilled(_, _, let rest):
        rest.prefix(7).reduce(0) { $0 << 8 | UInt64($1) }
      }
    }
  }
}
