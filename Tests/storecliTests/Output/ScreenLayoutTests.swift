import Foundation
import Testing

/// On a terminal, a report has the columns that say something, and its messages are aligned.
/// Elsewhere it has all columns, so that a script finds them.
@Suite(.tags(.process)) struct ScreenLayoutTests {
  private func shop() throws -> Workplace {
    let place = try Workplace()
    try RawDatabase(place.path("shop.db")).execute(
      """
      CREATE TABLE Shelf (id INTEGER PRIMARY KEY, label VARCHAR(120) NOT NULL);
      CREATE TABLE Product (
        id INTEGER PRIMARY KEY, name VARCHAR(200) NOT NULL, price NUMERIC(10,2) NOT NULL,
        shelf INTEGER REFERENCES Shelf (id), made DATETIME);
      CREATE INDEX byShelfOfProduct ON Product (shelf);
      CREATE INDEX byName ON Product (name);
      CREATE INDEX folded ON Product (lower(name));
      CREATE TABLE Loose (a, b);
      INSERT INTO Shelf VALUES (1, 'Strings');
      INSERT INTO Product VALUES
        (1, 'Lute', 5.5, 1, '2026-01-02 03:04:05'), (2, 'Harp', 1.25, 1, NULL);
      """)
    place.environment["STORECLI_DB"] = place.path("shop.db")
    return place
  }

  private func seen(_ words: String, in place: Workplace) throws -> String {
    let environment = place.environment.merging([
      "HOME": place.directory, "PATH": "/usr/bin:/bin", "NO_COLOR": "1", "TMPDIR": place.directory,
    ]) { mine, _ in mine }
    let shown = try PseudoTerminal.run(
      "'\(Workplace.program)' \(words)", in: place.directory, environment: environment)
    return shown.replacing("\r\n", with: "\n")
  }

  @Test func adoptionSaysItsTypesNotesAndReasonsInFull() throws {
    let place = try shop()
    #expect(
      try seen("adopt -n", in: place) == """
        MODEL    FIELDS  KEY
        Product       5  id
        Shelf         2  id
        Product.price (NUMERIC(10,2))  real, from all 2 values
        Product.made (DATETIME)        date YYYY-MM-DD HH:MM:SS, from 1 value
        note on Product  The index folded of Product covers an expression; SQLite uses it, but \
        the model does not contain it.
        not Loose  Loose has no primary key, and no UNIQUE constraint over columns that are NOT \
        NULL. Add a unique index over such columns, then adopt the table.
        2 tables would be adopted; dry run: nothing was written

        """)
    let plain = try place.run("adopt", "-n")
    #expect(plain.out.contains("\tThe index folded of Product covers"), "\(plain)")
    #expect(
      plain.err.hasPrefix("Product.price (NUMERIC(10,2)): real, from all 2 values\n"), "\(plain)")
    #expect(!plain.err.contains("note on"), "\(plain)")
  }

  @Test func aModelShowsTheColumnsThatAreNotEmpty() throws {
    let place = try shop()
    try #require(try place.run("adopt").code == 0)
    #expect(
      try seen("models Product", in: place) == """
        FIELD  TYPE                                 KEY  NULL  FOLLOWS
        id     integer                              key  no
        name   text (VARCHAR(200))                       no
        price  real (NUMERIC(10,2))                      no
        shelf  integer                                   yes   Shelf.id
        made   date YYYY-MM-DD HH:MM:SS (DATETIME)       yes
        Product   2 records
        index byShelfOfProduct  shelf
        index byName            name

        """)
    let table = try place.run("models", "Product", "-o", "table")
    #expect(table.out.hasPrefix("FIELD  TYPE"), "\(table)")
    #expect(table.out.contains("DEFAULT") && table.out.contains("RULES"), "\(table)")
    #expect(table.err.contains("index byName: name\n"), "\(table)")
  }

  @Test func brokenRulesAreATableWhoseNamesSayTheirPlace() throws {
    let place = try shop()
    try #require(try place.run("adopt").code == 0)
    for words in [["--range", "price=2.."], ["--required", "made"]] {
      let added = try place.run(["rules", "add", "Product"] + words + ["--keep-violations"])
      try #require(added.code == 0, "\(added)")
    }
    #expect(
      try seen("validate", in: place) == """
        RULE                   MESSAGE               RECORDS  FIRST
        Product.made.required  must have a value           1  2
        Product.price.range    must be 2 or greater        1  2
        2 models checked, 2 rules broken

        """)
    let warned = try place.run(
      "rules", "add", "Shelf", "--length", "label=99..", "--name", "long", "--severity", "warning",
      "--keep-violations")
    try #require(warned.code == 0, "\(warned)")
    let seen = try seen("validate", in: place)
    #expect(
      seen.hasPrefix("RULE ") && seen.contains("MODEL") && seen.contains("SEVERITY"), "\(seen)")
    let plain = try place.run("validate", "-q")
    #expect(
      plain.out == """
        Product\tmade\tProduct.made.required\terror\tmust have a value\t1\t2
        Product\tprice\tProduct.price.range\terror\tmust be 2 or greater\t1\t2
        Shelf\tlabel\tlong\twarning\tmust have at least 99 characters\t1\t1

        """)
  }
}
