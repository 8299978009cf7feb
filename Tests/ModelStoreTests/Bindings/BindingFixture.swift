import Foundation
import Testing

@testable import ModelStore

/// A database file in a directory of its own, reached by the library's connection and by the plain
/// `sqlite3` shell, which knows nothing of the store: foreign keys and recursive triggers are off
/// there.
final class BindingFixture {
  let connection: Connection
  let path: String
  private let directory: URL

  init(_ script: String = "") throws {
    directory = FileManager.default.temporaryDirectory
      .appendingPathComponent("modelstore-bindings-\(UUID().uuidString)")
    try FileManager.default.createDirectory(at: directory, withIntermediateDirectories: false)
    path = directory.appendingPathComponent("test.store").path
    let file = try DatabaseFile(path: path)
    var configuration = StoreConfiguration()
    configuration.durability = .normal
    connection = try Connection(
      path: file.path, role: .writer, policy: configuration.connectionPolicy)
    try connection.execute("PRAGMA journal_mode = WAL")
    try connection.execute(script)
  }

  /// A copy of the file that `template` has, as of its last commit.
  init(copying template: BindingFixture) throws {
    directory = FileManager.default.temporaryDirectory
      .appendingPathComponent("modelstore-bindings-\(UUID().uuidString)")
    try FileManager.default.createDirectory(at: directory, withIntermediateDirectories: false)
    path = directory.appendingPathComponent("test.store").path
    try template.connection.execute("PRAGMA wal_checkpoint = TRUNCATE")
    try FileManager.default.copyItem(atPath: template.path, toPath: path)
    var configuration = StoreConfiguration()
    configuration.durability = .normal
    connection = try Connection(
      path: path, role: .writer, policy: configuration.connectionPolicy)
    try connection.execute("PRAGMA journal_mode = WAL")
  }

  deinit {
    do {
      try FileManager.default.removeItem(at: directory)
    } catch {
      Issue.record("The test's directory stays behind: \(error)")
    }
  }

  /// Installs `bindings` in a transaction of their own.
  @discardableResult
  func install(
    _ bindings: [BindingSchema], in models: [ModelSchema]
  ) throws -> [Reconciler.Synchronised] {
    let installation = try CompiledBindings(bindings, in: models)
    try connection.execute("BEGIN IMMEDIATE")
    do {
      let result = try Reconciler(connection).reconcile(installation)
      try connection.execute("COMMIT")
      return result
    } catch {
      try connection.execute("ROLLBACK")
      throw error
    }
  }

  /// Every row of `sql`, its cells as SQL literals between bars.
  func rows(_ sql: String) throws -> [String] {
    try connection.withStatement(sql) { statement in
      let count = statement.columnCount
      var rows: [String] = []
      try statement.forEachRow { row in
        rows.append(
          try (0..<count).map { try row.value(at: $0).description }.joined(separator: "|"))
      }
      return rows
    }
  }

  /// The SQLite error that `sql` fails with, or nil.
  func failure(of sql: String) throws -> SQLiteError? {
    do throws(SQLiteError) {
      try connection.execute(sql)
      return nil
    } catch {
      return error
    }
  }

  struct ShellResult: Equatable {
    var output: [String]
    var errors: [String]
  }

  /// Runs `script` in the `sqlite3` shell, going on after a statement that fails.
  func shell(_ script: String) throws -> ShellResult {
    try Shell.run(script, on: path)
  }
}

enum Shell {
  static let path: String? = [
    "/usr/bin/sqlite3", "/usr/local/bin/sqlite3", "/opt/homebrew/bin/sqlite3",
  ]
  .first { FileManager.default.isExecutableFile(atPath: $0) }

  /// Runs `script` on the file `database`, going on after a statement that fails.
  static func run(_ script: String, on database: String) throws -> BindingFixture.ShellResult {
    let process = Process()
    process.executableURL = URL(fileURLWithPath: try #require(path))
    process.arguments = ["-batch", "-init", "/dev/null", database]
    let (input, output, errors) = (Pipe(), Pipe(), Pipe())
    process.standardInput = input
    process.standardOutput = output
    process.standardError = errors
    try process.run()
    input.fileHandleForWriting.write(Data(script.utf8))
    try input.fileHandleForWriting.close()
    let result = BindingFixture.ShellResult(
      output: Self.lines(output.fileHandleForReading.readDataToEndOfFile()),
      errors: Self.lines(errors.fileHandleForReading.readDataToEndOfFile())
        .filter { !$0.hasPrefix("-- Loading resources") })
    process.waitUntilExit()
    return result
  }

  private static func lines(_ data: Data) -> [String] {
    String(decoding: data, as: UTF8.self).split(separator: "\n").map(String.init)
  }

  static var isInstalled: Bool { path != nil }
  static let reason: Comment = "There is no sqlite3 shell."
}

/// The writer: the library's own connection or a foreign one.
enum BindingWriter: String, CaseIterable, Sendable {
  case library, shell
}
