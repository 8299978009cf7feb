import Testing

@testable import ModelStore

/// The table of touched rows, compared with a dictionary.
@Suite(.tags(.law)) struct RowPlacesTests {
  @Test func everyRowIsFoundAtItsPlaceAndNoOtherIsFound() {
    var random = SeededGenerator(seed: 7)
    var rows: [(table: Int, identity: ChangeCapture.RowIdentity)] = []
    var known: [[SQLValue]: Int] = [:]
    var places = RowPlaces()
    func find(_ table: Int, _ identity: ChangeCapture.RowIdentity) -> Int? {
      places.first(withHash: identity.hash(in: table)) {
        rows[$0].table == table && rows[$0].identity == identity
      }
    }
    for _ in 0..<20_000 {
      let table = Int.random(in: 0..<3, using: &random)
      let number = Int64.random(in: -3_000..<3_000, using: &random)
      let identity: ChangeCapture.RowIdentity =
        table == 2 ? .key([.integer(number), .text("k")]) : .rowID(number)
      let name: [SQLValue] = [.integer(Int64(table)), .integer(number)]
      #expect(find(table, identity) == known[name])
      guard known[name] == nil else { continue }
      known[name] = rows.count
      rows.append((table, identity))
      places.append { rows[$0].identity.hash(in: rows[$0].table) }
      #expect(find(table, identity) == rows.count - 1)
    }
    #expect(known.count > 10_000)
  }

  /// All rows have one hash, so that only the comparison distinguishes them.
  @Test func rowsOfOneHashAreDistinguished() {
    var places = RowPlaces()
    #expect(places.isEmpty)
    for _ in 0..<100 { places.append { _ in 5 } }
    #expect(!places.isEmpty)
    for wanted in 0..<100 { #expect(places.first(withHash: 5) { $0 == wanted } == wanted) }
    #expect(places.first(withHash: 5) { $0 == 100 } == nil)
  }
}
