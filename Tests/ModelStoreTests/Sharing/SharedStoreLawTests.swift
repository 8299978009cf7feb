import Testing

@testable import ModelStore

/// Members of a shared store have equal files after any sequence of writes on any of them.
@Suite(.tags(.law), .timeLimit(.minutes(30))) struct SharedStoreLawTests {
  private struct Refusal: Error {}

  @Test(arguments: 0..<4 as Range<UInt64>) func membersHaveEqualRowsAfterRandomWrites(
    seed: UInt64
  ) throws {
    var generator = SeededGenerator(seed: seed)
    let world = try SharedWorld(memberCount: 3)
    for round in 1...60 {
      let store = world.members.randomElement(using: &generator)!
      let statements = (0..<Int.random(in: 0...4, using: &generator)).map { _ in
        Self.statement(&generator)
      }
      let isRefused = Int.random(in: 0..<6, using: &generator) == 0
      do {
        try store.write { tx in
          for statement in statements {
            // A refused statement leaves the others.
            do { try tx.execute(statement) } catch let error as StoreError {
              guard error.code == .rejected else { throw error }
            }
          }
          if isRefused { throw Refusal() }
        }
      } catch is Refusal {}
      if round % 20 == 0 { try world.checkEqual() }
    }
    #expect(world.reports.events == [], "seed \(seed)")
  }

  /// A random statement about the tables of ``SharedWorld``.
  static func statement(_ generator: inout SeededGenerator) -> SQLText {
    func number(_ range: ClosedRange<Int64>) -> Int64 { .random(in: range, using: &generator) }
    let (id, other, text) = (number(1...6), number(1...6), "t\(number(1...5))")
    let letters = ["T1", "t1", "tx", "TX"].randomElement(using: &generator)!
    let (whole, real) = (SQLValue.integer(id), SQLValue.real(Double(id)))
    return switch number(0...23) {
    case 0, 1: "INSERT OR REPLACE INTO Artist (id, name) VALUES (\(id), \(text))"
    case 2: "INSERT OR IGNORE INTO Album (id, title, artistID) VALUES (\(id), \(text), \(other))"
    case 3: "UPDATE Artist SET name = \(text) WHERE id = \(id)"
    case 4: "DELETE FROM Artist WHERE id = \(id)"
    case 5: "UPDATE Artist SET id = \(id + 6) WHERE id = \(other)"
    case 6: "INSERT OR REPLACE INTO Plain (a, b, c) VALUES (\(text), \(id), x'00ff')"
    case 7: "UPDATE Plain SET a = CASE a WHEN 't1' THEN 't2' WHEN 't2' THEN 't1' ELSE a END"
    case 8: "DELETE FROM Plain WHERE b = \(id)"
    case 9: "INSERT OR REPLACE INTO Keyed (k, n, v) VALUES (\(text), \(id), \(other))"
    case 10: "UPDATE Keyed SET n = n + 10 WHERE k = \(text)"
    case 11: "INSERT INTO Numbered (x) VALUES (\(text))"
    case 12: "DELETE FROM Numbered WHERE id = (SELECT max(id) FROM Numbered)"
    case 13: "INSERT OR REPLACE INTO Generated (id, a) VALUES (\(id), \(other))"
    case 14: "DELETE FROM Keyed"
    case 15: "INSERT OR REPLACE INTO Folded (k, v) VALUES (\(letters), \(other))"
    case 16: "UPDATE Folded SET k = \(letters) WHERE k = 'tx'"
    case 17: "UPDATE Folded SET k = CASE k WHEN 't1' THEN 'Tx' ELSE 'T1' END"
    case 18: "INSERT OR REPLACE INTO Loose (k, v) VALUES (\(id % 2 == 0 ? whole : real), \(other))"
    case 19: "UPDATE Loose SET k = \(real) WHERE k = \(whole)"
    case 20: "DELETE FROM Loose WHERE k > \(id)"
    case 21: "INSERT OR REPLACE INTO Shifted (id, a) VALUES (\(id), \(other))"
    case 22: "UPDATE Shifted SET id = id + 6, a = a + 1 WHERE id = \(other)"
    case 23: "UPDATE sqlite_sequence SET seq = seq + 3 WHERE name = 'Numbered'"
    default: "UPDATE Plain SET b = b + 0.5, d = NULL WHERE a = \(text)"
    }
  }
}
