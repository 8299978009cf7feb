import Testing

/// `rules list` shows what the definitions of tables demand.
@Suite(.tags(.process)) struct TableRulesTests {
  @Test func theConstraintsOfATableAreListedAsFromTheTable() throws {
    let place = try Workplace()
    try RawDatabase(place.path("shop.db")).execute(
      """
      CREATE TABLE Shelf (id INTEGER PRIMARY KEY, label TEXT NOT NULL UNIQUE);
      CREATE TABLE Product (
        code TEXT PRIMARY KEY NOT NULL, shelf INTEGER NOT NULL REFERENCES Shelf (id),
        price REAL CHECK (price >= 0), lot TEXT, number INTEGER, UNIQUE (lot, number));
      CREATE UNIQUE INDEX once ON Product (lot, price);
      CREATE VIEW Dear AS SELECT * FROM Product;
      """)
    place.environment["STORECLI_DB"] = place.path("shop.db")
    try #require(try place.run("adopt").code == 0)
    #expect(
      try place.run("rules", "list", "-q").out == """
        Product.code.required\tProduct\tcode\terror\ttable\tmust have a value
        Product.shelf.required\tProduct\tshelf\terror\ttable\tmust have a value
        Product.shelf.reference\tProduct\tshelf\terror\ttable\tmust name an existing record of Shelf
        Product.check1\tProduct\tprice\terror\ttable\tmust satisfy price >= 0
        Product.lot,number.unique\tProduct\tlot,number\terror\ttable\tmust be unique together
        Product.lot,price.unique\tProduct\tlot,price\terror\ttable\tmust be unique together
        Shelf.label.required\tShelf\tlabel\terror\ttable\tmust have a value
        Shelf.label.unique\tShelf\tlabel\terror\ttable\tmust be unique

        """)
    #expect(
      try place.run("models", "--fields", "model,rules", "-q").out
        == "Dear\t0\nProduct\t6\nShelf\t2\n")
    #expect(
      try place.run("rules", "list", "Shelf", "-o", "table", "-q").out == """
        RULE                  FIELDS  SEVERITY  PLACE  MESSAGE
        Shelf.label.required  label   error     table  must have a value
        Shelf.label.unique    label   error     table  must be unique

        """)
    try place.run("rules", "add", "Shelf", "--check", "id > 0", "--name", "counted")
    #expect(
      try place.run("rules", "list", "Shelf", "-o", "table", "-q").out.contains("  MODEL  "))
    // A refused write names the rule as the list does.
    let refused = try place.run("insert", "Shelf", "label:null")
    #expect(refused.err.contains("(rule Shelf.label.required)"), "\(refused)")
  }
}
