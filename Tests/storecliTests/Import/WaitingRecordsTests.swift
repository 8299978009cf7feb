import ModelStore
import Testing

@testable import StoreCommand

/// How many rounds of writes the waiting records need until the invalid ones are found.
@Suite(.tags(.unit)) struct WaitingRecordsTests {
  private let place: Workplace
  private let store: Store
  private let schema: ModelSchema

  init() throws {
    place = try Workplace()
    try RawDatabase(place.path("n.db")).execute(
      """
      CREATE TABLE N(
        id INTEGER PRIMARY KEY, p INTEGER REFERENCES N(id), name TEXT UNIQUE COLLATE NOCASE,
        other TEXT REFERENCES N(name))
      """)
    store = try Store(at: place.path("n.db"))
    schema = try #require(try store.adopt(["N"]).first)
  }

  /// The lines that each round refuses; a last round that refuses none writes all others.
  private func rounds(_ records: [[String: SQLValue]]) throws -> [[Int]] {
    var waiting = WaitingRecords()
    for (index, values) in records.enumerated() {
      waiting.add(
        Importing.Item(
          content: .success(InputRecord(values: values)), source: 0, line: index + 1, bytes: []))
    }
    let schema = schema
    var rounds: [[Int]] = []
    try store.write { transaction in
      while waiting.count > 0 {
        let refused = try waiting.write(in: transaction) { item, transaction in
          let values = try item.content.get().values
          return WaitingRecords.Written(
            record: try transaction.insert(values, into: schema), isNew: true)
        }
        rounds.append(refused.map(\.item.line))
      }
    }
    return rounds
  }

  private func record(_ id: Int64, _ parent: Int64?) -> [String: SQLValue] {
    ["id": .integer(id), "p": parent.map { .integer($0) } ?? .null]
  }

  @Test func aChainThatStartsAtAMissingRecordIsRefusedInOneRound() throws {
    let chain = (2...101).map { record($0, $0 - 1) }
    #expect(try rounds(chain) == [Array(1...100)])
    #expect(try rounds(chain.reversed()) == [Array((1...100).reversed())])
  }

  @Test func recordsThatDoNotReferToRefusedOnesAreWrittenInTheNextRound() throws {
    let records: [(Int64, Int64?)] = [
      (2, 1), (3, 2), (10, nil), (11, 10), (4, 3), (20, 20), (12, 11), (5, 2),
    ]
    #expect(try rounds(records.map { record($0, $1) }) == [[1, 2, 8, 5], []])
    let query = StoreQuery<DynamicRecord>(schema)
    let count = try store.read { reads in try reads.count(query) }
    #expect(count == 4)
  }

  /// Texts that are equal without their case are not equal byte for byte, so SQLite finds them.
  @Test func referencesThatOnlySQLiteComparesAreRefusedLinkByLink() throws {
    func record(_ id: Int64, _ name: String, _ other: String) -> [String: SQLValue] {
      ["id": .integer(id), "name": .text(name), "other": .text(other)]
    }
    let records = [record(1, "a", "none"), record(2, "b", "A"), record(3, "c", "B")]
    #expect(try rounds(records) == [[1], [2], [3]])
  }
}

extension InputRecord {
  fileprivate init(values: [String: SQLValue]) {
    self.init(
      fields: InputFields(names: Array(values.keys), places: []), row: Array(values.values))
  }
}
