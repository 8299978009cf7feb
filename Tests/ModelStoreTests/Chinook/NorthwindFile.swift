/// A database with the tables of Northwind, the trade sample of many SQL books: keys of letters,
/// keys of two fields, a table that refers to itself, names with spaces, and views.
enum NorthwindFile {
  static let script =
    tables + """
      WITH RECURSIVE n (i) AS (VALUES (1) UNION ALL SELECT i + 1 FROM n WHERE i < 8)
      INSERT INTO Categories (CategoryName, Description) SELECT 'Category ' || i, NULL FROM n;
      INSERT INTO Suppliers (CompanyName, City) VALUES ('Exotic Liquids', 'London'), ('Tokyo Traders', 'Tokyo');
      WITH RECURSIVE n (i) AS (VALUES (1) UNION ALL SELECT i + 1 FROM n WHERE i < 77)
      INSERT INTO Products (ProductName, SupplierID, CategoryID, UnitPrice, UnitsInStock)
        SELECT 'Product ' || i, i % 2 + 1, i % 8 + 1, i * 1.25, i % 40 FROM n;
      DELETE FROM Products WHERE ProductID = 77;
      INSERT INTO Customers VALUES
        ('ALFKI', 'Alfreds Futterkiste', 'Maria Anders', 'Obere Str. 57', 'Berlin', 'Germany'),
        ('ANATR', 'Ana Trujillo', 'Ana Trujillo', 'Avda. 2222', 'México D.F.', 'Mexico'),
        ('PARIS', 'Paris spécialités', NULL, NULL, 'Paris', 'France');
      INSERT INTO Employees (EmployeeID, LastName, FirstName, BirthDate, ReportsTo) VALUES
        (2, 'Fuller', 'Andrew', '1952-02-19', NULL), (1, 'Davolio', 'Nancy', '1968-12-08', 2),
        (5, 'Buchanan', 'Steven', '1955-03-04', 2), (6, 'Suyama', 'Michael', '1963-07-02', 5);
      INSERT INTO Shippers (CompanyName, Phone) VALUES ('Speedy Express', '555'), ('United Package', NULL);
      INSERT INTO Regions VALUES (1, 'Eastern'), (2, 'Western');
      INSERT INTO Territories VALUES ('01581', 'Westboro', 1), ('98004', 'Bellevue', 2);
      INSERT INTO EmployeeTerritories VALUES (1, '01581'), (6, '98004');
      WITH RECURSIVE n (i) AS (VALUES (10248) UNION ALL SELECT i + 1 FROM n WHERE i < 11077)
      INSERT INTO Orders (OrderID, CustomerID, EmployeeID, OrderDate, ShipVia, Freight)
        SELECT i, substr('ALFKIANATRPARIS', i % 3 * 5 + 1, 5), i % 2 + 1,
          datetime('1996-07-04', (i - 10248) || ' days'), i % 2 + 1, i % 90 + 0.5 FROM n;
      INSERT INTO "Order Details" (OrderID, ProductID, UnitPrice, Quantity, Discount)
        SELECT OrderID, ProductID, UnitPrice, OrderID % 7 + 1, 0.05 FROM Orders JOIN Products
        ON ProductID % 76 IN (OrderID % 76, OrderID * 3 % 76);
      """

  private static let tables = """
    CREATE TABLE Categories (
      CategoryID INTEGER PRIMARY KEY AUTOINCREMENT, CategoryName TEXT NOT NULL, Description TEXT,
      Picture BLOB);
    CREATE TABLE Suppliers (
      SupplierID INTEGER PRIMARY KEY AUTOINCREMENT, CompanyName TEXT NOT NULL, City TEXT);
    CREATE TABLE Products (
      ProductID INTEGER NOT NULL PRIMARY KEY AUTOINCREMENT, ProductName TEXT NOT NULL,
      SupplierID INTEGER, CategoryID INTEGER, UnitPrice NUMERIC DEFAULT 0,
      UnitsInStock INTEGER DEFAULT 0, Discontinued TEXT NOT NULL DEFAULT '0',
      CHECK (UnitPrice >= 0), CHECK (UnitsInStock >= 0),
      FOREIGN KEY (SupplierID) REFERENCES Suppliers (SupplierID),
      FOREIGN KEY (CategoryID) REFERENCES Categories (CategoryID));
    CREATE TABLE Customers (
      CustomerID TEXT NOT NULL PRIMARY KEY, CompanyName TEXT, ContactName TEXT, Address TEXT,
      City TEXT, Country TEXT);
    CREATE TABLE Employees (
      EmployeeID INTEGER PRIMARY KEY AUTOINCREMENT, LastName TEXT, FirstName TEXT, BirthDate DATE,
      ReportsTo INTEGER REFERENCES Employees (EmployeeID));
    CREATE TABLE Shippers (
      ShipperID INTEGER PRIMARY KEY AUTOINCREMENT, CompanyName TEXT NOT NULL, Phone TEXT);
    CREATE TABLE Regions (RegionID INTEGER NOT NULL PRIMARY KEY, RegionDescription TEXT NOT NULL);
    CREATE TABLE Territories (
      TerritoryID TEXT NOT NULL PRIMARY KEY, TerritoryDescription TEXT NOT NULL,
      RegionID INTEGER NOT NULL REFERENCES Regions (RegionID));
    CREATE TABLE EmployeeTerritories (
      EmployeeID INTEGER NOT NULL REFERENCES Employees (EmployeeID),
      TerritoryID TEXT NOT NULL REFERENCES Territories (TerritoryID),
      PRIMARY KEY (EmployeeID, TerritoryID));
    CREATE TABLE Orders (
      OrderID INTEGER NOT NULL PRIMARY KEY AUTOINCREMENT,
      CustomerID TEXT REFERENCES Customers (CustomerID) ON UPDATE CASCADE,
      EmployeeID INTEGER REFERENCES Employees (EmployeeID), OrderDate DATETIME,
      ShipVia INTEGER REFERENCES Shippers (ShipperID), Freight NUMERIC DEFAULT 0, ShipName TEXT);
    CREATE TABLE "Order Details" (
      OrderID INTEGER NOT NULL REFERENCES Orders (OrderID) ON DELETE CASCADE,
      ProductID INTEGER NOT NULL REFERENCES Products (ProductID),
      UnitPrice NUMERIC NOT NULL DEFAULT 0, Quantity INTEGER NOT NULL DEFAULT 1,
      Discount REAL NOT NULL DEFAULT 0 CHECK (Discount BETWEEN 0 AND 1),
      PRIMARY KEY (OrderID, ProductID)) WITHOUT ROWID;
    CREATE INDEX CategoryName ON Categories (CategoryName);
    CREATE INDEX InStock ON Products (UnitsInStock) WHERE Discontinued = '0';
    CREATE VIEW "Current Product List" AS
      SELECT ProductID, ProductName FROM Products WHERE Discontinued = '0';
    CREATE VIEW "Order Subtotals" AS
      SELECT OrderID, sum(UnitPrice * Quantity * (1 - Discount)) AS Subtotal
      FROM "Order Details" GROUP BY OrderID;
    CREATE TRIGGER noNegativeStock BEFORE UPDATE OF UnitsInStock ON Products
      WHEN NEW.UnitsInStock < 0 BEGIN SELECT RAISE(ABORT, 'nothing in stock'); END;

    """
}
