/// A place in a store's change journal. Later changes have greater positions, across processes.
///
/// Positions are never used again, also after the journal was trimmed or turned off for a while.
/// Those of different files do not compare.
public struct JournalPosition: Hashable, Comparable, Sendable, Codable, RawRepresentable {
  /// The number in the file; at least 0. Fit for keeping.
  public let rawValue: Int64

  /// The position with that number, as one that was kept elsewhere.
  public init(rawValue: Int64) {
    self.rawValue = rawValue
  }

  /// Before the first change.
  public static let start = JournalPosition(rawValue: 0)

  public static func < (left: JournalPosition, right: JournalPosition) -> Bool {
    left.rawValue < right.rawValue
  }
}

extension JournalPosition: CustomStringConvertible {
  public var description: String { "\(rawValue)" }
}
