import ModelStore

/// An artist of the demonstration.
struct Artist: Model, Hashable {
  var id: Int64
  var name: String
  var founded: Int64

  static let definition = ModelDefinition<Artist>(
    "Artist", key: \.id,
    fields: [
      .init("id", \.id),
      .init("name", \.name, rules: [.length(1...80)]),
      .init("founded", \.founded, rules: [.range(1900...2100)]),
    ])

  var key: Int64 { id }

  init(id: Int64, name: String, founded: Int64) {
    self.id = id
    self.name = name
    self.founded = founded
  }

  init(row: borrowing RowView) throws {
    id = try row.decode(at: 0)
    name = try row.decode(at: 1)
    founded = try row.decode(at: 2)
  }

  func encode(to arguments: inout ArgumentWriter) throws {
    try id.encode(to: &arguments, at: 0)
    try name.encode(to: &arguments, at: 1)
    try founded.encode(to: &arguments, at: 2)
  }
}
