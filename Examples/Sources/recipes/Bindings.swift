import ModelStore

struct Product: CodableModel {
  var id: Int64
  var cents: Int
  var price = ""
  var key: Int64 { id }

  static let definition = ModelDefinition<Product>(
    "Product", key: \.id,
    fields: [.init("id", \.id), .init("cents", \.cents), .init("price", \.price)])
}

/// Keeps each author's number of books. Every program that writes the file keeps it.
let bookCount = FieldBinding.aggregate(.count, into: \Author.bookCount, through: \Book.authorID)

/// Keeps two fields in step: whichever you set, the other follows.
let price = FieldBinding.twoWay(
  \Product.cents, \Product.price, forward: "printf('%.2f', cents / 100.0)",
  backward: "CAST(round(price * 100) AS INTEGER)")

func showBindings(of store: Store) throws {
  try store.write { tx in
    try tx.upsert(Product(id: 1, cents: 1250))
    try tx.set(\Product.price, to: "9.90", for: 1)
  }
  print(try store.find(Product.self, 1)?.cents ?? 0, "cents")
  print(try store.find(Author.self, 1)?.bookCount ?? 0, "books")
}
