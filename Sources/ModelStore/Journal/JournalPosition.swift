/// A position in a store's change journal. Later changes have greater positions, across processes.
///
/// Positions are not used again, even after the journal was trimmed or disabled for a while. The
/// exception is a restored backup: later changes then get the positions after its end again.
/// Positions of different files cannot be compared.
public struct JournalPosition: Hashable, Comparable, Sendable, Codable, RawRepresentable {
  /// The number in the file; at least 0. You may store it.
  public let rawValue: Int64

  /// Creates a position from a stored number.
  public init(rawValue: Int64) {
    self.rawValue = rawValue
  }

  /// The position before the first change.
  public static let start = JournalPosition(rawValue: 0)

  public static func < (left: JournalPosition, right: JournalPosition) -> Bool {
    left.rawValue < right.rawValue
  }
}

extension JournalPosition: CustomStringConvertible {
  public var description: String { "\(rawValue)" }
}
