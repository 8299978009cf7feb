@testable import ModelStore

/// Transactions over the tables `g` and `item`, drawn from a seed: all kinds of statements, values
/// on both sides of SQLite's borders, savepoints taken back, and now and then a transaction given
/// up.
struct RandomTransaction {
  private var generator: SeededGenerator

  init(seed: UInt64) {
    generator = SeededGenerator(seed: seed)
  }

  mutating func chance(_ part: Int, of whole: Int) -> Bool {
    Int.random(in: 0..<whole, using: &generator) < part
  }

  mutating func draw(_ range: ClosedRange<Int>) -> Int {
    Int.random(in: range, using: &generator)
  }

  mutating func run(in tx: borrowing WriteTransaction) throws {
    for _ in 0..<Int.random(in: 1...3, using: &generator) { try step(in: tx, depth: 0) }
    if chance(1, of: 20) { throw LiveQueryTests.GivenUp() }
  }

  private mutating func step(in tx: borrowing WriteTransaction, depth: Int) throws {
    guard depth < 2, chance(1, of: 8) else { return try statement(in: tx) }
    let isTakenBack = chance(1, of: 2)
    do {
      try tx.savepoint { tx in
        try step(in: tx, depth: depth + 1)
        try step(in: tx, depth: depth + 1)
        if isTakenBack { throw Undo() }
      }
    } catch is Undo {}
  }

  private mutating func statement(in tx: borrowing WriteTransaction) throws {
    let id = id()
    let text: SQLText =
      switch Int.random(in: 0..<22, using: &generator) {
      case 0...4:
        "INSERT OR REPLACE INTO item VALUES (\(id), \(number()), \(text()), \(group()), \(unique()))"
      case 5: "INSERT OR IGNORE INTO item VALUES (\(id), \(number()), \(text()), NULL, \(unique()))"
      case 6: "INSERT OR FAIL INTO item SELECT id + 20, a, t, g, NULL FROM item WHERE id < \(id)"
      case 7...8: "UPDATE item SET a = \(number()) WHERE id = \(id)"
      case 9...10: "UPDATE item SET t = \(text()) WHERE id = \(id)"
      case 11: "UPDATE item SET g = \(group()), u = NULL WHERE id = \(id)"
      case 12: "UPDATE OR REPLACE item SET u = \(unique()) WHERE id IN (\(id), \(self.id()))"
      case 13: "UPDATE OR REPLACE item SET id = \(self.id()) WHERE id = \(id)"
      case 14: "UPDATE item SET u = u + 1"
      case 15...16: "DELETE FROM item WHERE id = \(id)"
      case 17: "DELETE FROM item WHERE id % 5 = \(id % 5)"
      case 18: "UPDATE g SET n = \(text()) WHERE id = \(id % 4)"
      case 19: "INSERT INTO g VALUES (\(id % 4), 'new') ON CONFLICT (id) DO UPDATE SET n = n || id"
      case 20: "DELETE FROM g WHERE id = \(id % 4) AND \(id) > 20"
      default: "UPDATE item SET a = a, t = t, g = g"
      }
    do {
      try tx.execute(text)
    } catch let error as StoreError where error.code == .rejected {
      // A statement that a constraint refuses; the transaction continues.
    }
  }

  private mutating func id() -> Int64 { Int64.random(in: 1...40, using: &generator) }

  private mutating func group() -> SQLValue {
    chance(1, of: 4) ? .null : .integer(Int64.random(in: 1...3, using: &generator))
  }

  private mutating func unique() -> SQLValue {
    chance(1, of: 2) ? .null : .integer(Int64.random(in: 0...25, using: &generator))
  }

  private mutating func number() -> SQLValue {
    Self.numbers.randomElement(using: &generator) ?? .null
  }

  private mutating func text() -> SQLValue { Self.texts.randomElement(using: &generator) ?? .null }

  private static let numbers: [SQLValue] = [
    .null, .integer(0), .real(-0.0), .real(0.5), .integer(-3), .integer(1), .real(1), .integer(7),
    .integer(9_007_199_254_740_993), .real(9_007_199_254_740_992), .integer(.max), .real(9.3e18),
    .real(-.infinity), .text("7"), .text("a"), .blob([]), .blob([0, 255]),
  ]

  private static let texts: [SQLValue] = [
    .null, .text(""), .text("a"), .text("A"), .text("a "), .text("A  "), .text("ab"),
    .text("aB\0c"),
    .text("ab\0d"), .text("b\t"), .text("b"), .text("Ä"), .text("ä"), .text("one"), .text("ONE "),
    .text("a long text that does not fit into the place that a key has for itself"),
    .text("a long text that does not fit into the place that a key has for itself "),
  ]
}
