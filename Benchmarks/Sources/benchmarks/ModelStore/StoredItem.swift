import ModelStore

/// Ten integers as a ModelStore model, written by hand as the macro would write it.
struct StoredItem: Model, TenIntegersRecord {
  var i0, i1, i2, i3, i4, i5, i6, i7, i8, i9: Int64

  static let definition = ModelDefinition<StoredItem>(
    "Item", table: "item", key: \.i0,
    fields: [
      .init("i0", \.i0), .init("i1", \.i1), .init("i2", \.i2), .init("i3", \.i3),
      .init("i4", \.i4), .init("i5", \.i5), .init("i6", \.i6), .init("i7", \.i7),
      .init("i8", \.i8), .init("i9", \.i9),
    ])

  var key: Int64 { i0 }

  /// - Precondition: `values` has ten elements.
  init(values: [Int64]) {
    (i0, i1, i2, i3, i4) = (values[0], values[1], values[2], values[3], values[4])
    (i5, i6, i7, i8, i9) = (values[5], values[6], values[7], values[8], values[9])
  }

  init(row: borrowing RowView) throws {
    i0 = try row.decode(at: 0)
    i1 = try row.decode(at: 1)
    i2 = try row.decode(at: 2)
    i3 = try row.decode(at: 3)
    i4 = try row.decode(at: 4)
    i5 = try row.decode(at: 5)
    i6 = try row.decode(at: 6)
    i7 = try row.decode(at: 7)
    i8 = try row.decode(at: 8)
    i9 = try row.decode(at: 9)
  }

  func encode(to arguments: inout ArgumentWriter) throws {
    try i0.encode(to: &arguments, at: 0)
    try i1.encode(to: &arguments, at: 1)
    try i2.encode(to: &arguments, at: 2)
    try i3.encode(to: &arguments, at: 3)
    try i4.encode(to: &arguments, at: 4)
    try i5.encode(to: &arguments, at: 5)
    try i6.encode(to: &arguments, at: 6)
    try i7.encode(to: &arguments, at: 7)
    try i8.encode(to: &arguments, at: 8)
    try i9.encode(to: &arguments, at: 9)
  }
}
