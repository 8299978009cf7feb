@testable import ModelStore

/// A store with songs and with mixes that list them, and what an observer of one mix received.
final class ListWorld {
  let directory: TemporaryDirectory
  let store: Store
  let told = Recorder<ListChanges<Int64>>()

  /// - Parameters:
  ///   - songCount: Songs 1 and up, called "song 1" and so on.
  ///   - songs: What is in mix 1; mix 2 is empty.
  init(songCount: Int = 9, songs: [Int64] = []) throws {
    directory = try TemporaryDirectory()
    store = try Store(at: directory.file("list.store"), models: Song.self, Mix.self)
    try store.write { tx in
      for id in 1...songCount { try tx.insert(Song(id: Int64(id), title: "song \(id)")) }
      try tx.insert(Mix(id: 1))
      try tx.insert(Mix(id: 2))
      try tx.list(\Mix.songs, of: 1).append(contentsOf: songs)
    }
  }

  func observe(
    fields: [any PartialKeyPath<Song> & Sendable] = [], coalescing: CoalescingPolicy = .standard
  ) throws -> ObservationToken {
    try store.observe(list: \Mix.songs, of: 1, fields: fields, coalescing: coalescing) { [told] in
      told.add($0)
    }
  }

  /// Edits mix 1 in a transaction of its own.
  func edit(_ body: (borrowing ListEditor<Int64>) throws -> Void) throws {
    try store.write { tx in try body(try tx.list(\Mix.songs, of: 1)) }
    store.waitForDelivery()
  }

  func keys() throws -> [Int64] { try store.read { try $0.keys(of: \Mix.songs, of: 1) } }
}

struct Song: Model {
  var id: Int64
  var title: String
  var plays: Int64

  static let definition = ModelDefinition<Song>(
    "Song", key: \.id,
    fields: [.init("id", \.id), .init("title", \.title), .init("plays", \.plays)])

  var key: Int64 { id }

  init(id: Int64, title: String = "", plays: Int64 = 0) {
    self.id = id
    self.title = title
    self.plays = plays
  }

  init(row: borrowing RowView) throws {
    id = try row.decode(at: 0)
    title = try row.decode(at: 1)
    plays = try row.decode(at: 2)
  }

  func encode(to arguments: inout ArgumentWriter) throws {
    try id.encode(to: &arguments, at: 0)
    try title.encode(to: &arguments, at: 1)
    try plays.encode(to: &arguments, at: 2)
  }
}

struct Mix: Model {
  var id: Int64
  var songs = OrderedList<Song>()

  static let definition = ModelDefinition<Mix>(
    "Mix", key: \.id, fields: [.init("id", \.id)], lists: [.init("songs", \.songs)])

  var key: Int64 { id }

  init(id: Int64) { self.id = id }
  init(row: borrowing RowView) throws { id = try row.decode(at: 0) }
  func encode(to arguments: inout ArgumentWriter) throws { try id.encode(to: &arguments, at: 0) }
}

extension ListChanges where Key == Int64 {
  /// The operations and the net difference in words, NF where an element was not in the list:
  /// `append p1 NF→0 | +0`.
  var words: String {
    let operations = self.operations.map { $0.map(\.words).joined(separator: ", ") } ?? "unknown"
    let net =
      deletions.map { "-\($0.index)" } + insertions.map { "+\($0.index)" }
      + moves.map { "\($0.oldIndex)→\($0.newIndex)" }
      + updates.map { update in
        "\(update.oldIndex)=\(update.newIndex) p\(update.key) "
          + update.fields.map { "\($0.name) \($0.old)→\($0.new)" }.joined(separator: ", ")
      }
    return "\(operations) | \(net.joined(separator: " "))"
  }
}

extension ListOperation where Key == Int64 {
  var words: String {
    ([kind.rawValue]
      + elements.map { element in
        "p\(element.key) \(element.oldIndex.map(String.init) ?? "NF")→\(element.newIndex.map(String.init) ?? "NF")"
      }).joined(separator: " ")
  }
}
