import ModelStore
import Testing

private struct Album: Model {
  var id: Int64
  var title: String
  var trackCount = 0
  var length = 0
  var longest: Int?
  var firstTitle: String?

  static let definition = ModelDefinition<Album>(
    "Album", key: \.id,
    fields: [
      .init("id", \.id), .init("title", \.title),
      .init("trackCount", \.trackCount, defaultSQL: "0"),
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
    trackCount = try row.decode(at: 2)
    length = try row.decode(at: 3)
    longest = try row.decode(at: 4)
    firstTitle = try row.decode(at: 5)
  }

  func encode(to arguments: inout ArgumentWriter) throws {
    try id.encode(to: &arguments, at: 0)
    try title.encode(to: &arguments, at: 1)
    try trackCount.encode(to: &arguments, at: 2)
    try length.encode(to: &arguments, at: 3)
    try longest.encode(to: &arguments, at: 4)
    try firstTitle.encode(to: &arguments, at: 5)
  }
}

private struct Track: Model {
  var id: Int64
  var albumID: Int64?
  var title: String
  var seconds: Int
  var number: Int

  static let definition = ModelDefinition<Track>(
    "Track", key: \.id,
    fields: [
      .init("id", \.id),
      .init("albumID", \.albumID, reference: ReferenceSchema(table: "Album", onDelete: .setNull)),
      .init("title", \.title), .init("seconds", \.seconds), .init("number", \.number),
    ])

  var key: Int64 { id }

  init(id: Int64, albumID: Int64?, title: String, seconds: Int, number: Int) {
    self.id = id
    self.albumID = albumID
    self.title = title
    self.seconds = seconds
    self.number = number
  }

  init(row: borrowing RowView) throws {
    id = try row.decode(at: 0)
    albumID = try row.decode(at: 1)
    title = try row.decode(at: 2)
    seconds = try row.decode(at: 3)
    number = try row.decode(at: 4)
  }

  func encode(to arguments: inout ArgumentWriter) throws {
    try id.encode(to: &arguments, at: 0)
    try albumID.encode(to: &arguments, at: 1)
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

@Suite struct BindingKindsExample {
  @Test func aggregatesFollowTheirRecords() throws {
    let directory = try TemporaryDirectory()
    let path = directory.file("albums.store")
    // snippet: aggregates
    let store = try Store(
      at: path, models: Album.self, Track.self,
      bindings: [
        .aggregate(.count, into: \Album.trackCount, through: \Track.albumID),
        .aggregate(.sum(\Track.seconds), into: \Album.length, through: \Track.albumID),
        .aggregate(
          .maximum(\Track.seconds), into: \Album.longest, through: \Track.albumID,
          where: "number > 0"),
        .aggregate(
          .first(\Track.title, by: \Track.number), into: \Album.firstTitle,
          through: \Track.albumID),
      ])

    try store.write { tx in
      try tx.insert(Album(id: 1, title: "Kind of Blue"))
      try tx.insert(Track(id: 1, albumID: 1, title: "Blue in Green", seconds: 337, number: 3))
      try tx.insert(Track(id: 2, albumID: 1, title: "So What", seconds: 562, number: 1))
    }
    let album = try store.find(Album.self, 1)
    // album.trackCount is 2, album.length 899, album.longest 562, album.firstTitle "So What"
    // end
    #expect(album?.trackCount == 2)
    #expect(album?.length == 899)
    #expect(album?.longest == 562)
    #expect(album?.firstTitle == "So What")
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
    #expect(try store.bindingLosses() == [])
  }
}
