import Testing

@testable import ModelStore

@Suite(.tags(.unit)) struct SortKeyTests {
  @Test(arguments: goldenRanks) func sortKeysOrderTheCorpusAsSQLiteDoes(golden: GoldenRanks) {
    let keys = sortCorpus.map { SortKey(values: [$0], terms: [golden.term], key: []) }
    #expect(denseRanks(of: keys) == golden.ranks)
  }

  @Test func theKeyIsThreeWordsAndNumbersStayInline() {
    #expect(MemoryLayout<SortKey>.size == 24)
    #expect(MemoryLayout<SortKey>.stride == 24)
  }

  @Test func tiesAreOrderedByTheAscendingPrimaryKey() {
    for direction in [SortTerm.Direction.ascending, .descending] {
      let term = SortTerm(collation: .nocase, direction: direction)
      let primaryKeys: [[SQLValue]] = [
        [.integer(-3)], [.integer(2)], [.integer(2), .text("A")], [.integer(2), .text("a")],
        [.integer(10)], [.text("10")],
      ]
      let keys = primaryKeys.enumerated().map { offset, key in
        SortKey(values: [.text(offset % 2 == 0 ? "tie" : "TIE")], terms: [term], key: key)
      }
      #expect(denseRanks(of: keys) == Array(0..<6))
    }
  }

  @Test func termsAreComparedInTheirOrder() {
    // All triples of few values under mixed terms, against a comparison term by term.
    let values: [SQLValue] = [
      .null, .integer(-1), .real(0.5), .text("a"), .text("a "), .text("ab"),
    ]
    let terms = [
      SortTerm(collation: .rtrim, direction: .descending),
      SortTerm(nulls: .last),
      SortTerm(direction: .descending, nulls: .first),
    ]
    // SQLite 3.40.1's dense ranks of `values` under each term.
    let ranks = [[4, 3, 2, 1, 1, 0], [5, 0, 1, 2, 3, 4], [0, 5, 4, 3, 2, 1]]
    var rows: [(key: SortKey, ranks: [Int])] = []
    for first in values.indices {
      for second in values.indices {
        for third in values.indices {
          let key = SortKey(
            values: [values[first], values[second], values[third]], terms: terms, key: [.integer(7)]
          )
          rows.append((key, [ranks[0][first], ranks[1][second], ranks[2][third]]))
        }
      }
    }
    for left in rows {
      for right in rows {
        let expected = left.ranks.lexicographicallyPrecedes(right.ranks)
        let isEqual = left.ranks == right.ranks
        if (left.key < right.key) != expected || (left.key == right.key) != isEqual {
          Issue.record("\(left.ranks) against \(right.ranks)")
          return
        }
      }
    }
  }

  @Test func nullPlacementFollowsTheDirectionUnlessGiven() {
    #expect(SortTerm(direction: .ascending).nulls == .first)
    #expect(SortTerm(direction: .descending).nulls == .last)
    #expect(SortTerm(direction: .descending, nulls: .first).nulls == .first)
  }

  @Test func onlyACustomCollationHasNoByteOrder() {
    let collations: [Collation] = [.binary, .nocase, .rtrim, .custom("german")]
    #expect(collations.map { SortTerm(collation: $0).hasByteOrder } == [true, true, true, false])
  }

  @Test(.ownThreads) func aCustomCollationTraps() async {
    await #expect(processExitsWith: .failure) {
      let term = SortTerm(collation: .custom("german"))
      _ = SortKey(values: [.text("a")], terms: [term], key: [])
    }
  }

  @Test func keysAroundTheInlineLimitKeepTheirOrder() {
    // Texts of every length around 23 bytes that agree up to their end, in both directions.
    let texts = (0...40).map { String(repeating: "a", count: $0) }
    for direction in [SortTerm.Direction.ascending, .descending] {
      let term = SortTerm(direction: direction)
      let keys = texts.map { SortKey(values: [.text($0)], terms: [term], key: [.integer(1)]) }
      let ranks = Array(0...40)
      #expect(denseRanks(of: keys) == (direction == .ascending ? ranks : ranks.reversed()))
    }
  }
}

struct GoldenRanks: Sendable, CustomTestStringConvertible {
  let term: SortTerm
  let ranks: [Int]
  let testDescription: String
}

/// The position of each key among the distinct keys.
private func denseRanks(of keys: [SortKey]) -> [Int] {
  let order = keys.indices.sorted { keys[$0] < keys[$1] }
  var ranks = Array(repeating: 0, count: keys.count)
  for (previous, index) in zip(order, order.dropFirst()) {
    ranks[index] = ranks[previous] + (keys[previous] < keys[index] ? 1 : 0)
  }
  return ranks
}

/// What SQLite 3.40.1 answers to
/// `SELECT dense_rank() OVER (ORDER BY v COLLATE … NULLS …) - 1 FROM t ORDER BY id`
/// when `t.v` has no affinity and holds `sortCorpus`.
private let goldenRanks: [GoldenRanks] = [
  GoldenRanks(
    term: SortTerm(collation: .binary, direction: .ascending, nulls: .first),
    ranks: [
      0, 0, 65, 1, 22, 22, 22, 28, 28, 18, 18, 23, 21, 24, 25, 26, 27, 29, 30, 20, 19, 17,
      31, 32, 15, 16, 33, 34, 35, 37, 14, 12, 36, 38, 13, 39, 41, 40, 43, 44, 42, 47, 46, 45,
      11, 48, 49, 49, 50, 51, 51, 10, 9, 10, 8, 53, 52, 57, 56, 55, 54, 58, 59, 6, 6, 7, 5,
      62, 61, 4, 60, 63, 3, 64, 2, 66, 74, 75, 73, 95, 82, 104, 85, 103, 106, 76, 113, 87,
      112, 88, 120, 122, 124, 90, 125, 91, 92, 93, 94, 126, 81, 78, 80, 79, 77, 67, 68, 70,
      71, 72, 96, 83, 98, 84, 99, 100, 101, 102, 121, 97, 105, 69, 127, 128, 130, 89, 123,
      129, 131, 132, 134, 133, 109, 111, 86, 110, 108, 107, 114, 115, 116, 117, 118, 119,
      135, 136, 137, 141, 142, 143, 144, 145, 146, 147, 150, 149, 151, 152, 153, 148, 154,
      155, 156, 157, 158, 159, 138, 139, 140, 160, 161, 162, 163, 0,
    ],
    testDescription: "COLLATE BINARY ASC NULLS FIRST"),
  GoldenRanks(
    term: SortTerm(collation: .binary, direction: .ascending, nulls: .last),
    ranks: [
      163, 163, 64, 0, 21, 21, 21, 27, 27, 17, 17, 22, 20, 23, 24, 25, 26, 28, 29, 19, 18,
      16, 30, 31, 14, 15, 32, 33, 34, 36, 13, 11, 35, 37, 12, 38, 40, 39, 42, 43, 41, 46, 45,
      44, 10, 47, 48, 48, 49, 50, 50, 9, 8, 9, 7, 52, 51, 56, 55, 54, 53, 57, 58, 5, 5, 6, 4,
      61, 60, 3, 59, 62, 2, 63, 1, 65, 73, 74, 72, 94, 81, 103, 84, 102, 105, 75, 112, 86,
      111, 87, 119, 121, 123, 89, 124, 90, 91, 92, 93, 125, 80, 77, 79, 78, 76, 66, 67, 69,
      70, 71, 95, 82, 97, 83, 98, 99, 100, 101, 120, 96, 104, 68, 126, 127, 129, 88, 122,
      128, 130, 131, 133, 132, 108, 110, 85, 109, 107, 106, 113, 114, 115, 116, 117, 118,
      134, 135, 136, 140, 141, 142, 143, 144, 145, 146, 149, 148, 150, 151, 152, 147, 153,
      154, 155, 156, 157, 158, 137, 138, 139, 159, 160, 161, 162, 163,
    ],
    testDescription: "COLLATE BINARY ASC NULLS LAST"),
  GoldenRanks(
    term: SortTerm(collation: .binary, direction: .descending, nulls: .first),
    ranks: [
      0, 0, 99, 163, 142, 142, 142, 136, 136, 146, 146, 141, 143, 140, 139, 138, 137, 135,
      134, 144, 145, 147, 133, 132, 149, 148, 131, 130, 129, 127, 150, 152, 128, 126, 151,
      125, 123, 124, 121, 120, 122, 117, 118, 119, 153, 116, 115, 115, 114, 113, 113, 154,
      155, 154, 156, 111, 112, 107, 108, 109, 110, 106, 105, 158, 158, 157, 159, 102, 103,
      160, 104, 101, 161, 100, 162, 98, 90, 89, 91, 69, 82, 60, 79, 61, 58, 88, 51, 77, 52,
      76, 44, 42, 40, 74, 39, 73, 72, 71, 70, 38, 83, 86, 84, 85, 87, 97, 96, 94, 93, 92, 68,
      81, 66, 80, 65, 64, 63, 62, 43, 67, 59, 95, 37, 36, 34, 75, 41, 35, 33, 32, 30, 31, 55,
      53, 78, 54, 56, 57, 50, 49, 48, 47, 46, 45, 29, 28, 27, 23, 22, 21, 20, 19, 18, 17, 14,
      15, 13, 12, 11, 16, 10, 9, 8, 7, 6, 5, 26, 25, 24, 4, 3, 2, 1, 0,
    ],
    testDescription: "COLLATE BINARY DESC NULLS FIRST"),
  GoldenRanks(
    term: SortTerm(collation: .binary, direction: .descending, nulls: .last),
    ranks: [
      163, 163, 98, 162, 141, 141, 141, 135, 135, 145, 145, 140, 142, 139, 138, 137, 136,
      134, 133, 143, 144, 146, 132, 131, 148, 147, 130, 129, 128, 126, 149, 151, 127, 125,
      150, 124, 122, 123, 120, 119, 121, 116, 117, 118, 152, 115, 114, 114, 113, 112, 112,
      153, 154, 153, 155, 110, 111, 106, 107, 108, 109, 105, 104, 157, 157, 156, 158, 101,
      102, 159, 103, 100, 160, 99, 161, 97, 89, 88, 90, 68, 81, 59, 78, 60, 57, 87, 50, 76,
      51, 75, 43, 41, 39, 73, 38, 72, 71, 70, 69, 37, 82, 85, 83, 84, 86, 96, 95, 93, 92, 91,
      67, 80, 65, 79, 64, 63, 62, 61, 42, 66, 58, 94, 36, 35, 33, 74, 40, 34, 32, 31, 29, 30,
      54, 52, 77, 53, 55, 56, 49, 48, 47, 46, 45, 44, 28, 27, 26, 22, 21, 20, 19, 18, 17, 16,
      13, 14, 12, 11, 10, 15, 9, 8, 7, 6, 5, 4, 25, 24, 23, 3, 2, 1, 0, 163,
    ],
    testDescription: "COLLATE BINARY DESC NULLS LAST"),
  GoldenRanks(
    term: SortTerm(collation: .nocase, direction: .ascending, nulls: .first),
    ranks: [
      0, 0, 65, 1, 22, 22, 22, 28, 28, 18, 18, 23, 21, 24, 25, 26, 27, 29, 30, 20, 19, 17,
      31, 32, 15, 16, 33, 34, 35, 37, 14, 12, 36, 38, 13, 39, 41, 40, 43, 44, 42, 47, 46, 45,
      11, 48, 49, 49, 50, 51, 51, 10, 9, 10, 8, 53, 52, 57, 56, 55, 54, 58, 59, 6, 6, 7, 5,
      62, 61, 4, 60, 63, 3, 64, 2, 66, 73, 74, 72, 84, 84, 91, 94, 90, 93, 75, 99, 99, 106,
      106, 106, 108, 110, 110, 111, 111, 81, 82, 83, 112, 80, 77, 79, 78, 76, 67, 68, 69, 70,
      71, 85, 85, 86, 86, 86, 87, 88, 89, 107, 86, 92, 68, 113, 114, 116, 109, 109, 115, 117,
      118, 120, 119, 96, 98, 96, 97, 95, 95, 100, 101, 102, 103, 104, 105, 121, 122, 123,
      127, 128, 129, 130, 131, 132, 133, 136, 135, 137, 138, 139, 134, 140, 141, 142, 143,
      144, 145, 124, 125, 126, 146, 147, 148, 149, 0,
    ],
    testDescription: "COLLATE NOCASE ASC NULLS FIRST"),
  GoldenRanks(
    term: SortTerm(collation: .nocase, direction: .ascending, nulls: .last),
    ranks: [
      149, 149, 64, 0, 21, 21, 21, 27, 27, 17, 17, 22, 20, 23, 24, 25, 26, 28, 29, 19, 18,
      16, 30, 31, 14, 15, 32, 33, 34, 36, 13, 11, 35, 37, 12, 38, 40, 39, 42, 43, 41, 46, 45,
      44, 10, 47, 48, 48, 49, 50, 50, 9, 8, 9, 7, 52, 51, 56, 55, 54, 53, 57, 58, 5, 5, 6, 4,
      61, 60, 3, 59, 62, 2, 63, 1, 65, 72, 73, 71, 83, 83, 90, 93, 89, 92, 74, 98, 98, 105,
      105, 105, 107, 109, 109, 110, 110, 80, 81, 82, 111, 79, 76, 78, 77, 75, 66, 67, 68, 69,
      70, 84, 84, 85, 85, 85, 86, 87, 88, 106, 85, 91, 67, 112, 113, 115, 108, 108, 114, 116,
      117, 119, 118, 95, 97, 95, 96, 94, 94, 99, 100, 101, 102, 103, 104, 120, 121, 122, 126,
      127, 128, 129, 130, 131, 132, 135, 134, 136, 137, 138, 133, 139, 140, 141, 142, 143,
      144, 123, 124, 125, 145, 146, 147, 148, 149,
    ],
    testDescription: "COLLATE NOCASE ASC NULLS LAST"),
  GoldenRanks(
    term: SortTerm(collation: .nocase, direction: .descending, nulls: .first),
    ranks: [
      0, 0, 85, 149, 128, 128, 128, 122, 122, 132, 132, 127, 129, 126, 125, 124, 123, 121,
      120, 130, 131, 133, 119, 118, 135, 134, 117, 116, 115, 113, 136, 138, 114, 112, 137,
      111, 109, 110, 107, 106, 108, 103, 104, 105, 139, 102, 101, 101, 100, 99, 99, 140, 141,
      140, 142, 97, 98, 93, 94, 95, 96, 92, 91, 144, 144, 143, 145, 88, 89, 146, 90, 87, 147,
      86, 148, 84, 77, 76, 78, 66, 66, 59, 56, 60, 57, 75, 51, 51, 44, 44, 44, 42, 40, 40,
      39, 39, 69, 68, 67, 38, 70, 73, 71, 72, 74, 83, 82, 81, 80, 79, 65, 65, 64, 64, 64, 63,
      62, 61, 43, 64, 58, 82, 37, 36, 34, 41, 41, 35, 33, 32, 30, 31, 54, 52, 54, 53, 55, 55,
      50, 49, 48, 47, 46, 45, 29, 28, 27, 23, 22, 21, 20, 19, 18, 17, 14, 15, 13, 12, 11, 16,
      10, 9, 8, 7, 6, 5, 26, 25, 24, 4, 3, 2, 1, 0,
    ],
    testDescription: "COLLATE NOCASE DESC NULLS FIRST"),
  GoldenRanks(
    term: SortTerm(collation: .nocase, direction: .descending, nulls: .last),
    ranks: [
      149, 149, 84, 148, 127, 127, 127, 121, 121, 131, 131, 126, 128, 125, 124, 123, 122,
      120, 119, 129, 130, 132, 118, 117, 134, 133, 116, 115, 114, 112, 135, 137, 113, 111,
      136, 110, 108, 109, 106, 105, 107, 102, 103, 104, 138, 101, 100, 100, 99, 98, 98, 139,
      140, 139, 141, 96, 97, 92, 93, 94, 95, 91, 90, 143, 143, 142, 144, 87, 88, 145, 89, 86,
      146, 85, 147, 83, 76, 75, 77, 65, 65, 58, 55, 59, 56, 74, 50, 50, 43, 43, 43, 41, 39,
      39, 38, 38, 68, 67, 66, 37, 69, 72, 70, 71, 73, 82, 81, 80, 79, 78, 64, 64, 63, 63, 63,
      62, 61, 60, 42, 63, 57, 81, 36, 35, 33, 40, 40, 34, 32, 31, 29, 30, 53, 51, 53, 52, 54,
      54, 49, 48, 47, 46, 45, 44, 28, 27, 26, 22, 21, 20, 19, 18, 17, 16, 13, 14, 12, 11, 10,
      15, 9, 8, 7, 6, 5, 4, 25, 24, 23, 3, 2, 1, 0, 149,
    ],
    testDescription: "COLLATE NOCASE DESC NULLS LAST"),
  GoldenRanks(
    term: SortTerm(collation: .rtrim, direction: .ascending, nulls: .first),
    ranks: [
      0, 0, 65, 1, 22, 22, 22, 28, 28, 18, 18, 23, 21, 24, 25, 26, 27, 29, 30, 20, 19, 17,
      31, 32, 15, 16, 33, 34, 35, 37, 14, 12, 36, 38, 13, 39, 41, 40, 43, 44, 42, 47, 46, 45,
      11, 48, 49, 49, 50, 51, 51, 10, 9, 10, 8, 53, 52, 57, 56, 55, 54, 58, 59, 6, 6, 7, 5,
      62, 61, 4, 60, 63, 3, 64, 2, 66, 66, 66, 72, 91, 79, 91, 79, 98, 100, 73, 106, 83, 105,
      84, 113, 113, 116, 86, 117, 87, 88, 89, 90, 118, 78, 75, 77, 76, 74, 67, 68, 69, 70,
      71, 92, 80, 93, 81, 94, 95, 96, 97, 114, 92, 99, 67, 119, 120, 122, 85, 115, 121, 123,
      124, 126, 125, 103, 104, 82, 103, 102, 101, 107, 108, 109, 110, 111, 112, 127, 128,
      129, 133, 134, 135, 136, 137, 138, 139, 142, 141, 143, 144, 145, 140, 146, 147, 148,
      149, 150, 151, 130, 131, 132, 152, 153, 154, 155, 0,
    ],
    testDescription: "COLLATE RTRIM ASC NULLS FIRST"),
  GoldenRanks(
    term: SortTerm(collation: .rtrim, direction: .ascending, nulls: .last),
    ranks: [
      155, 155, 64, 0, 21, 21, 21, 27, 27, 17, 17, 22, 20, 23, 24, 25, 26, 28, 29, 19, 18,
      16, 30, 31, 14, 15, 32, 33, 34, 36, 13, 11, 35, 37, 12, 38, 40, 39, 42, 43, 41, 46, 45,
      44, 10, 47, 48, 48, 49, 50, 50, 9, 8, 9, 7, 52, 51, 56, 55, 54, 53, 57, 58, 5, 5, 6, 4,
      61, 60, 3, 59, 62, 2, 63, 1, 65, 65, 65, 71, 90, 78, 90, 78, 97, 99, 72, 105, 82, 104,
      83, 112, 112, 115, 85, 116, 86, 87, 88, 89, 117, 77, 74, 76, 75, 73, 66, 67, 68, 69,
      70, 91, 79, 92, 80, 93, 94, 95, 96, 113, 91, 98, 66, 118, 119, 121, 84, 114, 120, 122,
      123, 125, 124, 102, 103, 81, 102, 101, 100, 106, 107, 108, 109, 110, 111, 126, 127,
      128, 132, 133, 134, 135, 136, 137, 138, 141, 140, 142, 143, 144, 139, 145, 146, 147,
      148, 149, 150, 129, 130, 131, 151, 152, 153, 154, 155,
    ],
    testDescription: "COLLATE RTRIM ASC NULLS LAST"),
  GoldenRanks(
    term: SortTerm(collation: .rtrim, direction: .descending, nulls: .first),
    ranks: [
      0, 0, 91, 155, 134, 134, 134, 128, 128, 138, 138, 133, 135, 132, 131, 130, 129, 127,
      126, 136, 137, 139, 125, 124, 141, 140, 123, 122, 121, 119, 142, 144, 120, 118, 143,
      117, 115, 116, 113, 112, 114, 109, 110, 111, 145, 108, 107, 107, 106, 105, 105, 146,
      147, 146, 148, 103, 104, 99, 100, 101, 102, 98, 97, 150, 150, 149, 151, 94, 95, 152,
      96, 93, 153, 92, 154, 90, 90, 90, 84, 65, 77, 65, 77, 58, 56, 83, 50, 73, 51, 72, 43,
      43, 40, 70, 39, 69, 68, 67, 66, 38, 78, 81, 79, 80, 82, 89, 88, 87, 86, 85, 64, 76, 63,
      75, 62, 61, 60, 59, 42, 64, 57, 89, 37, 36, 34, 71, 41, 35, 33, 32, 30, 31, 53, 52, 74,
      53, 54, 55, 49, 48, 47, 46, 45, 44, 29, 28, 27, 23, 22, 21, 20, 19, 18, 17, 14, 15, 13,
      12, 11, 16, 10, 9, 8, 7, 6, 5, 26, 25, 24, 4, 3, 2, 1, 0,
    ],
    testDescription: "COLLATE RTRIM DESC NULLS FIRST"),
  GoldenRanks(
    term: SortTerm(collation: .rtrim, direction: .descending, nulls: .last),
    ranks: [
      155, 155, 90, 154, 133, 133, 133, 127, 127, 137, 137, 132, 134, 131, 130, 129, 128,
      126, 125, 135, 136, 138, 124, 123, 140, 139, 122, 121, 120, 118, 141, 143, 119, 117,
      142, 116, 114, 115, 112, 111, 113, 108, 109, 110, 144, 107, 106, 106, 105, 104, 104,
      145, 146, 145, 147, 102, 103, 98, 99, 100, 101, 97, 96, 149, 149, 148, 150, 93, 94,
      151, 95, 92, 152, 91, 153, 89, 89, 89, 83, 64, 76, 64, 76, 57, 55, 82, 49, 72, 50, 71,
      42, 42, 39, 69, 38, 68, 67, 66, 65, 37, 77, 80, 78, 79, 81, 88, 87, 86, 85, 84, 63, 75,
      62, 74, 61, 60, 59, 58, 41, 63, 56, 88, 36, 35, 33, 70, 40, 34, 32, 31, 29, 30, 52, 51,
      73, 52, 53, 54, 48, 47, 46, 45, 44, 43, 28, 27, 26, 22, 21, 20, 19, 18, 17, 16, 13, 14,
      12, 11, 10, 15, 9, 8, 7, 6, 5, 4, 25, 24, 23, 3, 2, 1, 0, 155,
    ],
    testDescription: "COLLATE RTRIM DESC NULLS LAST"),
]
