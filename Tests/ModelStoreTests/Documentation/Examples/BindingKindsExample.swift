import Foundation
import ModelStore
import Testing

private struct Disc: Model {
  var id: Int64
  var title: String
  var pieceCount = 0
  var length = 0
  var longest: Int?
  var firstTitle: String?

  static let definition = ModelDefinition<Disc>(
    "Disc", key: \.id,
    fields: [
      .init("id", \.id), .init("title", \.title),
      .init("pieceCount", \.pieceCount, defaultSQL: "0"),
      .init("length", \.length, defaultSQL: "0"), .init("longest", \.longest),
      .init("firstTitle", \.firstTitle),
    ])

  var key: Int64 { id }

  init(id: Int64, title: String) {
    self.id = id
    self.title = title
  }

  init(row: borrowing RowView) throws {
    id = try row.decode(at: 0)
    title = try row.decode(at: 1)
    pieceCount = try row.decode(at: 2)
    length = try row.decode(at: 3)
    longest = try row.decode(at: 4)
    firstTitle = try row.decode(at: 5)
  }

  func encode(to arguments: inout ArgumentWriter) throws {
    try id.encode(to: &arguments, at: 0)
    try title.encode(to: &arguments, at: 1)
    try pieceCount.encode(to: &arguments, at: 2)
    try length.encode(to: &arguments, at: 3)
    try longest.encode(to: &arguments, at: 4)
    try firstTitle.encode(to: &arguments, at: 5)
  }
}

private struct Piece: Model {
  var id: Int64
  var discID: Int64?
  var title: String
  var seconds: Int
  var number: Int

  static let definition = ModelDefinition<Piece>(
    "Piece", key: \.id,
    fields: [
      .init("id", \.id),
      .init("discID", \.discID, reference: ReferenceSchema(table: "Disc", onDelete: .setNull)),
      .init("title", \.title), .init("seconds", \.seconds), .init("number", \.number),
    ])

  var key: Int64 { id }

  init(id: Int64, discID: Int64?, title: String, seconds: Int, number: Int) {
    self.id = id
    self.discID = discID
    self.title = title
    self.seconds = seconds
    self.number = number
  }

  init(row: borrowing RowView) throws {
    id = try row.decode(at: 0)
    discID = try row.decode(at: 1)
    title = try row.decode(at: 2)
    seconds = try row.decode(at: 3)
    number = try row.decode(at: 4)
  }

  func encode(to arguments: inout ArgumentWriter) throws {
    try id.encode(to: &arguments, at: 0)
    try discID.encode(to: &arguments, at: 1)
    try title.encode(to: &arguments, at: 2)
    try seconds.encode(to: &arguments, at: 3)
    try number.encode(to: &arguments, at: 4)
  }
}

private struct Product: Model {
  var id: Int64
  var cents: Int
  var price: String?

  static let definition = ModelDefinition<Product>(
    "Product", key: \.id,
    fields: [
      .init("id", \.id), .init("cents", \.cents, defaultSQL: "0"), .init("price", \.price),
    ])

  var key: Int64 { id }

  init(id: Int64, cents: Int = 0, price: String? = nil) {
    self.id = id
    self.cents = cents
    self.price = price
  }

  init(row: borrowing RowView) throws {
    id = try row.decode(at: 0)
    cents = try row.decode(at: 1)
    price = try row.decode(at: 2)
  }

  func encode(to arguments: inout ArgumentWriter) throws {
    try id.encode(to: &arguments, at: 0)
    try cents.encode(to: &arguments, at: 1)
    try price.encode(to: &arguments, at: 2)
  }
}

private struct Receipt: CodableModel {
  var id: Int64
  var total: Decimal = 0

  var key: Int64 { id }

  static let definition = ModelDefinition<Receipt>(
    "Receipt", key: \.id, fields: [.init("id", \.id), .init("total", \.total)])
}

private struct ReceiptLine: CodableModel {
  var id: Int64
  var receiptID: Int64
  var quantity: Int
  var price: Decimal

  var key: Int64 { id }

  static let definition = ModelDefinition<ReceiptLine>(
    "ReceiptLine", key: \.id,
    fields: [
      .init("id", \.id), .init("receiptID", \.receiptID), .init("quantity", \.quantity),
      .init("price", \.price),
    ])
}

@Suite(.tags(.unit)) struct BindingKindsExample {
  @Test func sumsOfProductsAreExact() throws {
    let directory = try TemporaryDirectory()
    let path = directory.file("receipts.store")
    // snippet: exact-sums
    let store = try Store(
      at: path, models: Receipt.self, ReceiptLine.self,
      bindings: [
        .aggregate(
          .sum(of: "quantity * price", scale: 2), into: \Receipt.total,
          through: \ReceiptLine.receiptID)
      ])

    try store.write { tx in
      try tx.insert(Receipt(id: 1))
      try tx.insert(ReceiptLine(id: 1, receiptID: 1, quantity: 3, price: Decimal(10) / 100))
      try tx.insert(ReceiptLine(id: 2, receiptID: 1, quantity: 1, price: Decimal(1999) / 100))
    }
    let total = try store.find(Receipt.self, 1)?.total
    // total is 20.29
    // end
    #expect(total == Decimal(string: "20.29"))
    #expect(try store.bindingFindings() == [])
  }

  @Test func aggregatesFollowTheirRecords() throws {
    let directory = try TemporaryDirectory()
    let path = directory.file("discs.store")
    // snippet: aggregates
    let store = try Store(
      at: path, models: Disc.self, Piece.self,
      bindings: [
        .aggregate(.count, into: \Disc.pieceCount, through: \Piece.discID),
        .aggregate(.sum(\Piece.seconds), into: \Disc.length, through: \Piece.discID),
        .aggregate(
          .maximum(\Piece.seconds), into: \Disc.longest, through: \Piece.discID,
          where: "number > 0"),
        .aggregate(
          .first(\Piece.title, by: \Piece.number), into: \Disc.firstTitle,
          through: \Piece.discID),
      ])

    try store.write { tx in
      try tx.insert(Disc(id: 1, title: "Kind of Blue"))
      try tx.insert(Piece(id: 1, discID: 1, title: "Blue in Green", seconds: 337, number: 3))
      try tx.insert(Piece(id: 2, discID: 1, title: "So What", seconds: 562, number: 1))
    }
    let disc = try store.find(Disc.self, 1)
    // disc.pieceCount is 2, disc.length 899, disc.longest 562, disc.firstTitle "So What"
    // end
    #expect(disc?.pieceCount == 2)
    #expect(disc?.length == 899)
    #expect(disc?.longest == 562)
    #expect(disc?.firstTitle == "So What")
    #expect(try store.bindingFindings() == [])
  }

  @Test func bothEndsFollow() throws {
    let directory = try TemporaryDirectory()
    let path = directory.file("products.store")
    // snippet: two-way
    let store = try Store(
      at: path, models: Product.self,
      bindings: [
        .twoWay(
          \Product.cents, \Product.price, forward: "printf('%d.%02d', cents / 100, cents % 100)",
          backward: "CAST(round(price * 100) AS INTEGER)")
      ])

    let prices = try store.write { tx in
      try tx.insert(Product(id: 1, cents: 1250))
      try tx.insert(Product(id: 2, price: "3.5"))
      return try tx.fetch(Product.all.order { $0.id }).map { "\($0.cents) \($0.price ?? "")" }
    }
    // prices: ["1250 12.50", "350 3.5"]
    // end
    #expect(prices == ["1250 12.50", "350 3.5"])
    #expect(try store.lossyConversions() == [])
  }

  @Test func damageLeftByOtherProgramsIsRepaired() throws {
    let directory = try TemporaryDirectory()
    let path = directory.file("spoilt.store")
    // snippet: other-programs
    let store = try Store(
      at: path, models: Disc.self, Piece.self,
      bindings: [.aggregate(.count, into: \Disc.pieceCount, through: \Piece.discID)])

    let way = try store.bindings()
    let findings = try store.bindingFindings()
    let corrected = try store.rebuildBindings()
    // way[0].description is "Disc.pieceCount = count(Piece) where Piece.discID = Disc.id",
    // findings lists wrong triggers and keys, corrected how many records changed
    // end
    #expect(
      way.map(\.description) == ["Disc.pieceCount = count(Piece) where Piece.discID = Disc.id"])
    #expect(findings == [])
    #expect(corrected.isEmpty)
  }
}
