import Foundation

@testable import ModelStore

/// A directory of its own for one test, removed when the test lets go of it.
final class TemporaryDirectory: Sendable {
  let path: String

  init() throws {
    let url = FileManager.default.temporaryDirectory
      .appendingPathComponent("modelstore-\(UUID().uuidString)")
    try FileManager.default.createDirectory(at: url, withIntermediateDirectories: true)
    path = url.path
  }

  deinit {
    try? FileManager.default.removeItem(atPath: path)
  }

  func file(_ name: String) -> String { path + "/" + name }
}

struct Artist: Model, Hashable {
  var id: Int64
  var name: String

  static let definition = ModelDefinition<Artist>(
    "Artist", key: \.id,
    fields: [.init("id", \.id), .init("name", \.name, rules: [.length(1...120)])])

  var key: Int64 { id }

  init(id: Int64, name: String) {
    self.id = id
    self.name = name
  }

  init(row: borrowing RowView) throws {
    id = try row.decode(at: 0)
    name = try row.decode(at: 1)
  }

  func encode(to arguments: inout ArgumentWriter) throws {
    try id.encode(to: &arguments, at: 0)
    try name.encode(to: &arguments, at: 1)
  }
}

struct Album: Model, Hashable {
  var id: Int64
  var title: String
  var artistID: Int64?
  var artistName: String?

  static let definition = ModelDefinition<Album>(
    "Album", key: \.id,
    fields: [
      .init("id", \.id), .init("title", \.title, rules: [.length(1...160)]),
      .init(
        "artistID", \.artistID,
        reference: ReferenceSchema(table: "Artist", onDelete: .cascade)),
      .init("artistName", \.artistName),
    ])

  var key: Int64 { id }

  init(id: Int64, title: String, artistID: Int64? = nil, artistName: String? = nil) {
    self.id = id
    self.title = title
    self.artistID = artistID
    self.artistName = artistName
  }

  init(row: borrowing RowView) throws {
    id = try row.decode(at: 0)
    title = try row.decode(at: 1)
    artistID = try row.decode(at: 2)
    artistName = try row.decode(at: 3)
  }

  func encode(to arguments: inout ArgumentWriter) throws {
    try id.encode(to: &arguments, at: 0)
    try title.encode(to: &arguments, at: 1)
    try artistID.encode(to: &arguments, at: 2)
    try artistName.encode(to: &arguments, at: 3)
  }
}
