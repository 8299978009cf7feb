/// A record of ten integers, to decode without any string.
struct TenIntegers: TenIntegersRecord {
  var i0, i1, i2, i3, i4, i5, i6, i7, i8, i9: Int64

  static let createTable = """
    CREATE TABLE item (
      i0 INTEGER PRIMARY KEY,
      i1 INTEGER NOT NULL,
      i2 INTEGER NOT NULL,
      i3 INTEGER NOT NULL,
      i4 INTEGER NOT NULL,
      i5 INTEGER NOT NULL,
      i6 INTEGER NOT NULL,
      i7 INTEGER NOT NULL,
      i8 INTEGER NOT NULL,
      i9 INTEGER NOT NULL
    )
    """

  static let insert = """
    INSERT INTO item (i0, i1, i2, i3, i4, i5, i6, i7, i8, i9)
    VALUES (?, ?, ?, ?, ?, ?, ?, ?, ?, ?)
    """

  static let selectAll = """
    SELECT i0, i1, i2, i3, i4, i5, i6, i7, i8, i9
    FROM item
    """

  /// Returns the values of record `index`; the first is its key.
  static func values(at index: Int) -> [Int64] {
    (0..<10).map { Int64(index) &+ Int64($0) &* 1_000_003 }
  }
}

/// The fields of every contender's ten-integer record.
protocol TenIntegersRecord {
  var i0: Int64 { get }
  var i1: Int64 { get }
  var i2: Int64 { get }
  var i3: Int64 { get }
  var i4: Int64 { get }
  var i5: Int64 { get }
  var i6: Int64 { get }
  var i7: Int64 { get }
  var i8: Int64 { get }
  var i9: Int64 { get }
}

extension Sequence where Element: TenIntegersRecord {
  /// A number that changes when any record, field or position does.
  var digest: Int64 {
    reduce(into: 17) { sum, item in
      for value in [
        item.i0, item.i1, item.i2, item.i3, item.i4, item.i5, item.i6, item.i7, item.i8, item.i9,
      ] { sum = sum &* 31 &+ value }
    }
  }
}
