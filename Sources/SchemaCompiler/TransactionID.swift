/// Which transaction of a store's file. A number that says where in the change journal the
/// transaction begins, which tells it apart from all others that committed, and for the rest is
/// drawn at random, which tells it apart from those that did not. Ids of later commits are greater.
public struct TransactionID: Hashable, Sendable, Codable, RawRepresentable {
  /// The id as the file keeps it.
  public let rawValue: Int64

  /// The id with that number, as one that was kept elsewhere; whether there is such a transaction
  /// is found out when it is looked for.
  public init(rawValue: Int64) {
    self.rawValue = rawValue
  }

  private static let placeBitCount = 39
  private static let randomBitCount = 23
  /// Set in ids that say nothing of a place.
  private static let placeless: Int64 = 1 << (placeBitCount + randomBitCount)

  /// One that no transaction has had yet.
  ///
  /// - Parameter first: The position of the transaction's first row in the change journal; nil when
  ///   nothing will be entered.
  package static func make(first: Int64?) -> TransactionID {
    guard let first, first > 0, first < 1 << placeBitCount else {
      return TransactionID(rawValue: placeless | Int64.random(in: 0..<placeless))
    }
    let random = Int64.random(in: 0..<1 << randomBitCount)
    return TransactionID(rawValue: first << randomBitCount | random)
  }

  /// The position of the transaction's first row in the change journal; nil when it had no place
  /// there.
  package var first: Int64? {
    // No transaction begins at place 0, whatever text an id was read from.
    rawValue >> Self.randomBitCount > 0 && rawValue < Self.placeless
      ? rawValue >> Self.randomBitCount : nil
  }
}

extension TransactionID: CustomStringConvertible {
  /// Base 36, as the command line shows and takes it.
  public var description: String { String(rawValue, radix: 36) }

  /// The transaction that ``description`` was made of; nil for any other text.
  public init?(_ description: String) {
    guard let number = Int64(description, radix: 36), number > 0 else { return nil }
    self.init(rawValue: number)
  }
}
