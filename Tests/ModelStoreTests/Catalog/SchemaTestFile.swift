internal import Foundation

@testable internal import ModelStore

/// A database file in a directory of its own, removed with it.
final class SchemaTestFile {
  let path: String
  private let directory: URL

  init(_ script: String = "") throws {
    directory = FileManager.default.temporaryDirectory
      .appendingPathComponent("modelstore-schema-\(UUID().uuidString)")
    try FileManager.default.createDirectory(at: directory, withIntermediateDirectories: true)
    path = directory.appendingPathComponent("test.store").path
    _ = try DatabaseFile(path: path)
    try connect().execute(script)
  }

  deinit {
    do {
      try FileManager.default.removeItem(at: directory)
    } catch {
      print("\(directory.path) could not be removed: \(error)")
    }
  }

  func connect(role: Connection.Role = .writer) throws -> Connection {
    try Connection(
      path: path, role: role,
      policy: Connection.Policy(
        durability: .normal, busyTimeout: .seconds(30), cacheSize: 1 << 20,
        statementCacheCapacity: 16))
  }

  func catalog() throws -> Catalog {
    try Catalog(reading: connect())
  }
}

extension Connection {
  /// The rows of a query, each as its values' SQL literals with commas between.
  func lines(_ text: SQLText) throws -> [String] {
    try rows(text) { row in try row.values().map(\.description).joined(separator: ", ") }
  }
}

extension SeededGenerator {
  /// A name of 1 to 12 characters, most of which need quoting.
  mutating func name() -> String {
    let alphabet = Array("aZ09_ .,;:'\"`[]()-/*?%$@äÄ中🎵\n\t\\")
    return String(
      (0..<Int.random(in: 1...12, using: &self)).map { _ in
        alphabet[Int.random(in: 0..<alphabet.count, using: &self)]
      })
  }
}
