import ModelStore

/// A record with a value and a bound field for each kind of binding.
struct BoundItem: Model {
  var id, value: Int64
  /// The other item for which it counts.
  var owner: Int64
  var derived: Int64?
  var aggregate: Int64?
  var partner: Int64?

  static let definition = ModelDefinition<BoundItem>(
    "BoundItem", key: \.id,
    fields: [
      .init("id", \.id), .init("value", \.value), .init("owner", \.owner),
      .init("derived", \.derived), .init("aggregate", \.aggregate), .init("partner", \.partner),
    ])

  var key: Int64 { id }

  init(id: Int64, owner: Int64) {
    self.id = id
    value = id
    self.owner = owner
  }

  init(row: borrowing RowView) throws {
    id = try row.decode(at: 0)
    value = try row.decode(at: 1)
    owner = try row.decode(at: 2)
    derived = try row.decode(at: 3)
    aggregate = try row.decode(at: 4)
    partner = try row.decode(at: 5)
  }

  func encode(to arguments: inout ArgumentWriter) throws {
    try id.encode(to: &arguments, at: 0)
    try value.encode(to: &arguments, at: 1)
    try owner.encode(to: &arguments, at: 2)
    try derived.encode(to: &arguments, at: 3)
    try aggregate.encode(to: &arguments, at: 4)
    try partner.encode(to: &arguments, at: 5)
  }
}
