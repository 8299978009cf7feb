import Foundation
import Synchronization

@testable import ModelStore

/// A store with more pages than one step of a backup copies, and the hash of each state that it
/// had.
final class CopyWorld: Sendable {
  let directory: TemporaryDirectory
  let path: String
  let store: Store
  private let recordCount: Int64
  /// The content hash at each position of the change journal.
  private let hashes = Mutex<[Int64: ContentHash]>([:])

  init(recordCount: Int64 = 9000, configuration: StoreConfiguration = StoreConfiguration()) throws {
    self.recordCount = recordCount
    directory = try TemporaryDirectory()
    path = directory.file("copied.store")
    store = try Self.open(path, configuration)
    try write { tx in
      for id in 1...recordCount {
        try tx.insert(Artist(id: id, name: "\(id) " + String(repeating: "n", count: 100)))
      }
    }
  }

  /// Opens a store with the declarations of this one.
  static func open(
    _ path: String, _ configuration: StoreConfiguration = StoreConfiguration()
  ) throws -> Store {
    var configuration = configuration
    configuration.changeJournal = .full
    return try Store(
      at: path, models: Artist.self, Album.self,
      bindings: [.copy(\Artist.name, to: \Album.artistName, through: \Album.artistID)],
      configuration: configuration)
  }

  /// Commits, and notes the state after it. One thread writes at a time.
  func write(_ body: (borrowing WriteTransaction) throws -> Void) throws {
    try store.write(body)
    let position = try store.changeJournal.position().rawValue
    let hash = try store.contentHash()
    hashes.withLock { $0[position] = hash }
  }

  /// One of a series of small changes all over the file.
  func writeSome(_ number: Int64) throws {
    let id = number * 10 % recordCount + 1
    try write { tx in
      try tx.insert(Album(id: number, title: "title \(number)", artistID: id))
      try tx.update(Artist(id: id, name: "renamed by \(number)"))
    }
  }

  /// Whether the state at a position was noted.
  func knows(_ position: JournalPosition) -> Bool {
    hashes.withLock { $0[position.rawValue] != nil }
  }

  /// What is wrong with a copy: empty if it is a state that the store had.
  func findings(of copy: String) throws -> [String] {
    do {
      var configuration = StoreConfiguration()
      configuration.access = .readOnly
      let opened = try Store(at: copy, configuration: configuration)
      defer { opened.close() }
      var findings = try opened.checkIntegrity()
      findings += try opened.bindingFindings().map { "binding \($0.binding)" }
      let position = try opened.changeJournal.position().rawValue
      let hash = try opened.contentHash()
      guard let known = hashes.withLock({ $0[position] }) else {
        return findings + ["position \(position) is inside a transaction"]
      }
      if known != hash { findings.append("not the content of position \(position)") }
      return findings
    } catch let error as StoreError {
      return ["\(error)"]
    }
  }

  /// The names of the files in the directory, except those of the store.
  var otherFiles: [String] {
    get throws {
      try FileManager.default.contentsOfDirectory(atPath: directory.path)
        .filter { !$0.hasPrefix("copied.store") || $0.hasSuffix(".partial") }.sorted()
    }
  }
}
