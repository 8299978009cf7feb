/// What a readiness probe asks about a store.
///
/// ``Store/health()`` makes it. Encode it as JSON for an endpoint, or decide by ``isWritable``.
public struct StoreHealth: Hashable, Sendable, Codable {
  /// Whether nothing of this store keeps a write from beginning. While another program writes, a
  /// write waits for it.
  public var isWritable: Bool { obstacle == nil }
  /// Why no write may begin; nil if one may. For example, the store was opened read-only, is
  /// shutting down, or had a COMMIT with an unknown outcome.
  public let obstacle: String?
  /// How long the oldest running read of this process has run; nil if none runs. An old read keeps
  /// the write-ahead log from being reused. Reads count if they began after the first monitor was
  /// added, or after the first call of ``Store/health()``.
  public let oldestRead: Duration?
  /// The size of the write-ahead log in bytes.
  public let logByteCount: Int64
  /// The bytes that this user may still allocate on the file's disk; nil if unknown.
  public let freeByteCount: Int64?
  /// For each consumer of the file, the number of positions between its own and the journal's end.
  public let consumerLags: [String: Int64]
  /// The names of models, bindings and rules whose objects in the file differ from their
  /// declarations; see ``Store/schemaDrift()``.
  public let drift: [String]
  /// The file's part in a shared store; nil if it is not a member of one.
  public let member: MemberHealth?
  /// The version of the SQLite library, such as "3.51.3".
  public let sqliteVersion: String
  /// A sentence for each known bug of this version that can damage a file.
  public let sqliteBugs: [String]
}
