import Foundation
import Testing

@testable import ModelStore

/// A database of another application, and what the second version of a program makes of it.
private struct Application {
  let binding: FieldBinding
  /// A rename, a table that is split, a new rule in a table's definition, and a new reference.
  let migrations: [Migration]
  /// The table that the migrations create.
  let split: String
  let rule: Rule
  /// Queries before the migrations, and those with the same result after them.
  let kept: [(before: String, after: String)]
  /// A statement of another program that changes the source of the binding.
  let change: String
  /// Counts bound fields with another value than that of the binding.
  let drift: String
  /// Statements that the second version's constraints refuse.
  let refused: [String]
  /// A model that the migrations leave unchanged, and one that they change.
  let models: [String]
  /// A statement of another program that changes both.
  let later: String

  static let northwind = Application(
    binding: .copy(
      from: "Customers.CompanyName", to: "Orders.ShipName", through: "Orders.CustomerID"),
    migrations: [
      Migration(
        version: 1, name: "rename",
        sql: "ALTER TABLE Products RENAME COLUMN ProductName TO Name;"),
      Migration(
        version: 2, name: "split",
        sql: """
          CREATE TABLE Addresses (
            AddressID INTEGER PRIMARY KEY, CustomerID TEXT NOT NULL REFERENCES Customers (CustomerID),
            Address TEXT NOT NULL);
          INSERT INTO Addresses (CustomerID, Address)
            SELECT CustomerID, Address FROM Customers WHERE Address IS NOT NULL;
          ALTER TABLE Customers DROP COLUMN Address;
          """),
      Migration(
        version: 3, name: "phones",
        sql: """
          CREATE TABLE new_Shippers (
            ShipperID INTEGER PRIMARY KEY AUTOINCREMENT, CompanyName TEXT NOT NULL,
            Phone TEXT CONSTRAINT phone CHECK (length(Phone) >= 3));
          INSERT INTO new_Shippers SELECT * FROM Shippers;
          DROP TABLE Shippers;
          ALTER TABLE new_Shippers RENAME TO Shippers;
          ALTER TABLE Products ADD COLUMN Substitute INTEGER REFERENCES Products (ProductID);
          """),
    ],
    split: "Addresses",
    rule: Rule(
      "Products.named", of: "Products", fields: ["Name"], .condition(sql: "trim(Name) <> ''")),
    kept: [
      (
        "SELECT ProductID, ProductName, UnitPrice FROM Products ORDER BY 1",
        "SELECT ProductID, Name, UnitPrice FROM Products ORDER BY 1"
      ),
      (
        "SELECT ProductName FROM \"Current Product List\" ORDER BY ProductID",
        "SELECT Name FROM \"Current Product List\" ORDER BY ProductID"
      ),
      (
        "SELECT CustomerID, City, Address FROM Customers ORDER BY 1",
        "SELECT CustomerID, City, Addresses.Address FROM Customers LEFT JOIN Addresses USING (CustomerID) ORDER BY 1"
      ),
      (
        "SELECT * FROM \"Order Details\" ORDER BY 1, 2",
        "SELECT * FROM \"Order Details\" ORDER BY 1, 2"
      ),
      ("SELECT * FROM Orders ORDER BY 1", "SELECT * FROM Orders ORDER BY 1"),
      (
        "SELECT * FROM \"Order Subtotals\" ORDER BY 1",
        "SELECT * FROM \"Order Subtotals\" ORDER BY 1"
      ),
      (
        "SELECT name, seq FROM sqlite_sequence ORDER BY 1",
        "SELECT name, seq FROM sqlite_sequence ORDER BY 1"
      ),
      (
        "SELECT name, sql FROM sqlite_schema WHERE type = 'trigger' AND name NOT GLOB '_ms_*'",
        "SELECT name, sql FROM sqlite_schema WHERE type = 'trigger' AND name NOT GLOB '_ms_*'"
      ),
    ],
    change: "UPDATE Customers SET CompanyName = 'Alfred' WHERE CustomerID = 'ALFKI'",
    drift:
      "SELECT count(*) FROM Orders JOIN Customers USING (CustomerID) WHERE ShipName IS NOT CompanyName",
    refused: [
      "UPDATE Products SET Name = ' ' WHERE ProductID = 1",
      "UPDATE Products SET Substitute = 999 WHERE ProductID = 1",
      "UPDATE Products SET UnitsInStock = -1 WHERE ProductID = 1",
      "INSERT INTO Shippers (CompanyName, Phone) VALUES ('Short', '1')",
      "DELETE FROM Customers WHERE CustomerID = 'ALFKI'",
    ],
    models: ["Order Details", "Products"],
    later: """
      UPDATE "Order Details" SET Quantity = Quantity + 1 WHERE OrderID < 10300;
      UPDATE Products SET UnitPrice = 7 WHERE ProductID < 9;
      DELETE FROM "Order Details" WHERE ProductID = 3; DELETE FROM Products WHERE ProductID = 3;
      """)

  static let chinook = Application(
    binding: .copy(
      from: "Customer.Country", to: "Invoice.BillingCountry", through: "Invoice.CustomerId"),
    migrations: [
      Migration(
        version: 1, name: "rename", sql: "ALTER TABLE Track RENAME COLUMN Name TO Title;"),
      Migration(
        version: 2, name: "split",
        sql: """
          CREATE TABLE Address (
            AddressId INTEGER PRIMARY KEY, CustomerId INTEGER NOT NULL REFERENCES Customer (CustomerId),
            Street NVARCHAR(70) NOT NULL);
          INSERT INTO Address (CustomerId, Street)
            SELECT CustomerId, Address FROM Customer WHERE Address IS NOT NULL;
          ALTER TABLE Customer DROP COLUMN Address;
          """),
      Migration(
        version: 3, name: "media",
        sql: """
          CREATE TABLE new_MediaType (
            MediaTypeId INTEGER NOT NULL PRIMARY KEY,
            Name NVARCHAR(120) CONSTRAINT named CHECK (length(Name) > 0));
          INSERT INTO new_MediaType SELECT * FROM MediaType;
          DROP TABLE MediaType;
          ALTER TABLE new_MediaType RENAME TO MediaType;
          ALTER TABLE Genre ADD COLUMN ParentId INTEGER REFERENCES Genre (GenreId);
          """),
    ],
    split: "Address",
    rule: Rule(
      "Track.long", of: "Track", fields: ["Milliseconds"], .condition(sql: "Milliseconds > 0")),
    kept: [
      (
        "SELECT TrackId, Name, AlbumId, Bytes FROM Track ORDER BY 1",
        "SELECT TrackId, Title, AlbumId, Bytes FROM Track ORDER BY 1"
      ),
      (
        "SELECT CustomerId, City, Address FROM Customer ORDER BY 1",
        "SELECT CustomerId, City, Street FROM Customer LEFT JOIN Address USING (CustomerId) ORDER BY 1"
      ),
      ("SELECT * FROM Invoice ORDER BY 1", "SELECT * FROM Invoice ORDER BY 1"),
      ("SELECT * FROM PlaylistTrack ORDER BY 1, 2", "SELECT * FROM PlaylistTrack ORDER BY 1, 2"),
      ("SELECT * FROM MediaType ORDER BY 1", "SELECT * FROM MediaType ORDER BY 1"),
    ],
    change: "UPDATE Customer SET Country = 'Freedonia' WHERE CustomerId = 1",
    drift:
      "SELECT count(*) FROM Invoice JOIN Customer USING (CustomerId) WHERE BillingCountry IS NOT Country",
    refused: [
      "UPDATE Track SET Milliseconds = 0 WHERE TrackId = 1",
      "UPDATE Genre SET ParentId = 999 WHERE GenreId = 1",
      "INSERT INTO MediaType VALUES (99, '')",
      "DELETE FROM Customer WHERE CustomerId = 1",
    ],
    models: ["InvoiceLine", "Track"],
    later: """
      UPDATE InvoiceLine SET Quantity = Quantity + 1 WHERE InvoiceId < 30;
      UPDATE Track SET UnitPrice = 7 WHERE TrackId < 9;
      DELETE FROM InvoiceLine WHERE TrackId = 2;
      """)
}

/// Databases of other applications that are adopted, then changed by a second version, and go on
/// with their bindings, their rules and the change journal.
@Suite(.tags(.law)) struct SecondVersionTests {
  private let directory: TemporaryDirectory
  private let path: String

  init() throws {
    directory = try TemporaryDirectory()
    path = directory.file("application.sqlite")
  }

  @Test func northwindGoesOnAfterItsTablesChanged() throws {
    try PlainDatabase(path).execute("PRAGMA journal_mode = WAL; \(NorthwindFile.script)")
    try FileManager.default.setAttributes([.posixPermissions: 0o600], ofItemAtPath: path)
    try check(.northwind)
  }

  @Test(
    .enabled("needs shared/data/chinook.sqlite beside the project") { ChinookFile.isPresent })
  func chinookGoesOnAfterItsTablesChanged() throws {
    try FileManager.default.copyItem(atPath: ChinookFile.source.path(), toPath: path)
    try FileManager.default.setAttributes([.posixPermissions: 0o600], ofItemAtPath: path)
    try check(.chinook)
  }

  private func open(
    _ application: Application, _ migrations: [Migration], rules: [Rule] = []
  ) throws -> Store {
    try Store(
      at: path,
      declaring: Declarations(
        migrations: migrations, bindings: [application.binding], rules: rules),
      configuration: StoreConfiguration(durability: .normal),
      // A migration makes adopted models outdated, which opening reports.
      onError: { if $0.code != .outdatedModel { Issue.record($0) } })
  }

  private func check(_ application: Application) throws {
    var store = try Store(at: path)
    try store.adopt()
    try store.changeJournal.enable()
    store.close()
    // Version 1.
    store = try open(application, [])
    let position = try store.changeJournal.position()
    store.close()
    let before = try application.kept.map { try PlainDatabase(path).rows($0.before) }

    // Version 2.
    store = try open(application, application.migrations)
    #expect(try !store.refreshAdopted().isEmpty)
    try store.adopt([application.split])
    store.close()
    store = try open(application, application.migrations, rules: [application.rule])
    for (rows, query) in zip(before, application.kept.map(\.after)) {
      #expect(try PlainDatabase(path).rows(query) == rows, "\(query)")
    }
    #expect(try store.adoptedDrift() == [])
    #expect(try store.schemaDrift() == [])
    #expect(try store.checkIntegrity() == [])
    #expect(try store.changeJournal.status().drift == [])

    try checkBindingAndRules(application, store)
    try checkJournal(application, store, since: position)
    store.close()

    // Version 1 again.
    let error = failure { try open(application, []) }
    #expect(error?.code == .newerFormat)
    #expect(try PlainDatabase(path).rows("PRAGMA integrity_check") == [[.text("ok")]])
  }

  private func checkBindingAndRules(_ application: Application, _ store: Store) throws {
    let other = try PlainDatabase(path)
    try other.execute("PRAGMA foreign_keys = ON; \(application.change)")
    #expect(try other.rows(application.drift) == [[.integer(0)]])
    #expect(try store.bindingFindings() == [])
    for statement in application.refused {
      #expect(throws: PlainDatabase.Failure.self, "\(statement)") { try other.execute(statement) }
      let error = failure { try store.write { tx in try tx.execute(SQLText(sql: statement)) } }
      #expect(error?.code == .rejected, "\(statement)")
    }
  }

  private func checkJournal(
    _ application: Application, _ store: Store, since position: JournalPosition
  ) throws {
    // The other program's change is the last one, with the records that the binding changed.
    let newest = try #require(try store.changeJournal.newestTransactions(limit: 1).first)
    #expect(newest.positions.upperBound > position)
    let end = try store.changeJournal.position()
    var past: [String: Set<[SQLValue]>] = [:]
    for model in application.models {
      // While a migration runs, the journal records nothing, and says so.
      let gap = failure { try records(store, model, at: position) }
      #expect(gap?.code == .journalGap)
      past[model] = try records(store, model, at: nil)
      #expect(try records(store, model, at: end) == past[model])
    }
    // From then on, it is exact again.
    try PlainDatabase(path).execute(application.later)
    for model in application.models {
      #expect(try records(store, model, at: end) == past[model], "\(model)")
    }
  }

  /// The records of a model, now or at a position.
  private func records(
    _ store: Store, _ model: String, at position: JournalPosition?
  ) throws -> Set<[SQLValue]> {
    let query = StoreQuery<DynamicRecord>(try store.schema.model(named: model))
    let records = try position.map { try store.fetch(query, at: $0) } ?? store.fetch(query)
    return Set(records.map(\.values))
  }
}
