/// Databases of other programs in miniature, as such programs make them: names with blanks, loose
/// types, composite keys, views, collations of their own.
enum ForeignSchemas {
  /// A trading company, in the style of Northwind.
  static let trade = """
    CREATE TABLE [Categories] (
      [CategoryID] INTEGER PRIMARY KEY AUTOINCREMENT, [CategoryName] TEXT, [Description] TEXT,
      [Picture] BLOB
    );
    CREATE TABLE [Employees] (
      [EmployeeID] INTEGER PRIMARY KEY AUTOINCREMENT, [LastName] TEXT, [BirthDate] DATE,
      [ReportsTo] INTEGER,
      FOREIGN KEY ([ReportsTo]) REFERENCES [Employees] ([EmployeeID])
        ON DELETE NO ACTION ON UPDATE NO ACTION
    );
    CREATE TABLE [Customers] ([CustomerID] TEXT, [CompanyName] TEXT, PRIMARY KEY (`CustomerID`));
    CREATE TABLE [Orders] (
      [OrderID] INTEGER NOT NULL PRIMARY KEY AUTOINCREMENT, [CustomerID] TEXT,
      [OrderDate] DATETIME, [Freight] NUMERIC DEFAULT 0, [ShipName] TEXT,
      FOREIGN KEY ([CustomerID]) REFERENCES [Customers] ([CustomerID])
    );
    CREATE TABLE [Products] (
      [ProductID] INTEGER NOT NULL PRIMARY KEY AUTOINCREMENT, [ProductName] TEXT NOT NULL,
      [CategoryID] INTEGER REFERENCES [Categories], [UnitPrice] NUMERIC DEFAULT 0,
      [Discontinued] TEXT NOT NULL DEFAULT '0', CHECK ([UnitPrice] >= (0))
    );
    CREATE TABLE [Order Details] (
      [OrderID] INTEGER NOT NULL, [ProductID] INTEGER NOT NULL,
      [UnitPrice] NUMERIC NOT NULL DEFAULT 0, [Quantity] INTEGER NOT NULL DEFAULT 1,
      [Discount] REAL NOT NULL DEFAULT 0,
      PRIMARY KEY ("OrderID", "ProductID"),
      CHECK ([Discount] >= (0) AND [Discount] <= (1)), CHECK ([Quantity] > (0)),
      FOREIGN KEY ([OrderID]) REFERENCES [Orders] ([OrderID]) ON DELETE CASCADE
    );
    CREATE INDEX [Orders by customer] ON [Orders] ([CustomerID]);
    CREATE VIEW [Order Subtotals] AS
      SELECT OrderID, sum(UnitPrice * Quantity * (1 - Discount)) AS [Sub total]
      FROM [Order Details] GROUP BY OrderID;
    INSERT INTO Categories VALUES (1, 'Beverages', 'Soft drinks', x'151C2F00'), (2, NULL, NULL, NULL);
    INSERT INTO Employees VALUES (1, 'Fuller', '1952-02-19', NULL), (2, 'Davolio', '1968-12-08', 1);
    INSERT INTO Customers VALUES ('ALFKI', 'Alfreds Futterkiste');
    INSERT INTO Orders VALUES (10248, 'ALFKI', '2016-07-04', 32.38, NULL),
      (10249, NULL, '2016-07-05', 11, 'Chop-suey');
    INSERT INTO Products VALUES (11, 'Queso Cabrales', 1, 14, '0'), (42, 'Mee', NULL, 9.8, '1');
    INSERT INTO [Order Details] VALUES (10248, 11, 14, 12, 0), (10248, 42, 9.8, 10, 0.15);
    """

  /// A collection of cards to learn, in the style of Anki.
  static let cards = """
    CREATE TABLE col (
      id integer PRIMARY KEY, crt integer NOT NULL, mod integer NOT NULL, conf text NOT NULL,
      models text NOT NULL
    );
    CREATE TABLE notes (
      id integer PRIMARY KEY, guid text NOT NULL, mid integer NOT NULL, mod integer NOT NULL,
      usn integer NOT NULL, tags text NOT NULL, flds text NOT NULL, sfld integer NOT NULL,
      csum integer NOT NULL, flags integer NOT NULL, data text NOT NULL
    );
    CREATE TABLE revlog (id integer PRIMARY KEY, cid integer NOT NULL, ease integer NOT NULL);
    CREATE TABLE graves (oid integer NOT NULL, type integer NOT NULL, usn integer NOT NULL,
      PRIMARY KEY (oid, type)) WITHOUT ROWID;
    CREATE TABLE notetypes (
      id integer NOT NULL PRIMARY KEY, name text NOT NULL COLLATE unicase,
      mtime_secs integer NOT NULL, config blob NOT NULL
    );
    CREATE TABLE fields (
      ntid integer NOT NULL, ord integer NOT NULL, name text NOT NULL COLLATE unicase,
      config blob NOT NULL, PRIMARY KEY (ntid, ord)
    ) WITHOUT ROWID;
    CREATE TABLE config (
      KEY text NOT NULL PRIMARY KEY, usn integer NOT NULL, mtime_secs integer NOT NULL,
      val blob NOT NULL
    ) WITHOUT ROWID;
    CREATE UNIQUE INDEX idx_notetypes_name ON notetypes (name);
    CREATE UNIQUE INDEX idx_fields_name_ntid ON fields (name, ntid);
    CREATE INDEX ix_notes_csum ON notes (csum);
    INSERT INTO col VALUES (1, 1600000000, 1600000000123, '{"nextPos":1}', '{}');
    INSERT INTO notes VALUES (1600000000123, 'g(x;a', 7, 1600000000, -1, ' a b ', 'front' || char(31)
      || 'back', 'front', 3489013581, 0, ''), (1600000000456, 'q', 7, 1600000001, -1, '', '12', 12,
      2066295049, 0, '');
    INSERT INTO revlog VALUES (1600000000123, 1, 3);
    INSERT INTO notetypes VALUES (7, 'Basic', 1600000000, x'0A00');
    INSERT INTO fields VALUES (7, 0, 'Front', x'01'), (7, 1, 'Back', x'02');
    INSERT INTO config VALUES ('curDeck', 0, 0, '1');
    """
}
