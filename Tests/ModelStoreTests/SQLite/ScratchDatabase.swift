@testable import ModelStore

/// An empty database in a directory of its own and one connection to it.
final class ScratchDatabase {
  let connection: Connection
  let path: String
  private let directory: TemporaryDirectory

  init(_ script: String = "", role: Connection.Role = .writer, cacheCapacity: Int = 16) throws {
    directory = try TemporaryDirectory()
    path = try DatabaseFile(path: directory.file("scratch.store")).path
    connection = try Connection(
      path: path, role: role, policy: .scratch(statementCacheCapacity: cacheCapacity))
    try connection.execute("PRAGMA journal_mode = WAL")
    try connection.execute(script)
  }
}

extension Connection.Policy {
  static func scratch(
    durability: StoreConfiguration.Durability = .normal, busyTimeout: Duration = .seconds(30),
    statementCacheCapacity: Int = 16, fileSystem: String? = nil
  ) -> Connection.Policy {
    Connection.Policy(
      durability: durability, busyTimeout: busyTimeout, cacheSize: 1 << 20,
      statementCacheCapacity: statementCacheCapacity, fileSystem: fileSystem)
  }
}

/// The description of what `body` throws; nil when it returns.
func thrownError<Result>(by body: () throws -> Result) -> (any Error)? {
  do {
    _ = try body()
    return nil
  } catch {
    return error
  }
}

/// The code of the ``StoreError`` that `body` throws; nil when it returns or throws another error.
func code<Result>(of body: () throws -> Result) -> StoreError.Code? {
  (thrownError(by: body) as? StoreError)?.code
}
