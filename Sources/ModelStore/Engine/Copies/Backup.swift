/// A finished backup: a file with one state of a store.
public struct Backup: Hashable, Sendable, Codable {
  /// The path of the file, without symbolic links.
  public let path: String
  /// The newest change of the change journal that the backup has; ``JournalPosition/start`` if
  /// there is none. The backup has every commit up to it, and nothing later.
  public let position: JournalPosition
  /// The size of the file in bytes.
  public let byteCount: Int64
}
