/// The identity of a transaction in a store's file. Ids of later commits are greater.
///
/// An id consists of the position in the change journal where the transaction begins and a random
/// number. The position distinguishes it from other committed transactions, the random number from
/// transactions that did not commit.
public struct TransactionID: Hashable, Sendable, Codable, RawRepresentable {
  /// The id as stored in the file.
  public let rawValue: Int64

  /// Creates an id from a stored number. Whether the transaction exists is checked when you look it
  /// up.
  public init(rawValue: Int64) {
    self.rawValue = rawValue
  }

  private static let placeBitCount = 39
  private static let randomBitCount = 23
  /// Set in ids without a position.
  private static let placeless: Int64 = 1 << (placeBitCount + randomBitCount)

  /// Returns an id that no transaction has had yet.
  ///
  /// - Parameter first: The position of the transaction's first row in the change journal; nil when
  ///   nothing will be recorded.
  package static func make(first: Int64?) -> TransactionID {
    guard let first, first > 0, first < 1 << placeBitCount else {
      return TransactionID(rawValue: placeless | Int64.random(in: 0..<placeless))
    }
    let random = Int64.random(in: 0..<1 << randomBitCount)
    return TransactionID(rawValue: first << randomBitCount | random)
  }

  /// The position of the transaction's first row in the change journal; nil when it has none.
  package var first: Int64? {
    // No transaction begins at position 0, but an id read from text may.
    rawValue >> Self.randomBitCount > 0 && rawValue < Self.placeless
      ? rawValue >> Self.randomBitCount : nil
  }
}

extension TransactionID: CustomStringConvertible {
  /// Base 36, as the command line prints and accepts it.
  public var description: String { String(rawValue, radix: 36) }

  /// Creates the id that has this ``description``; nil for any other text.
  public init?(_ description: String) {
    guard let number = Int64(description, radix: 36), number > 0 else { return nil }
    self.init(rawValue: number)
  }
}
