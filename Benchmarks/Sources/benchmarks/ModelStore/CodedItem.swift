import ModelStore

/// Ten integers that are read and written by their `Codable` conformance.
struct CodedItem: CodableModel, TenIntegersRecord {
  var i0, i1, i2, i3, i4, i5, i6, i7, i8, i9: Int64

  var key: Int64 { i0 }

  static let definition = ModelDefinition<CodedItem>(
    "Item", table: "item", key: \.i0,
    fields: [
      .init("i0", \.i0), .init("i1", \.i1), .init("i2", \.i2), .init("i3", \.i3),
      .init("i4", \.i4), .init("i5", \.i5), .init("i6", \.i6), .init("i7", \.i7),
      .init("i8", \.i8), .init("i9", \.i9),
    ])
}
