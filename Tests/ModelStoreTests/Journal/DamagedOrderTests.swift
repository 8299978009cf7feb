import Foundation
import Testing

@testable import ModelStore

/// A page of the change journal whose rows are not in order, as only damage leaves it: SQLite then
/// returns rows that were not asked for, and every reader ends with an error.
@Suite(.tags(.unit)) struct DamagedOrderTests {
  /// A journal whose last rows have other positions in their page than the order of rows allows.
  ///
  /// - Parameter positions: Of the last rows, in the order of the page. As many bytes as
  ///   ``marker(_:)`` takes each.
  /// - Returns: Also the position of the newest row before.
  private static func damaged(
    _ positions: [Int64]
  ) throws -> (directory: TemporaryDirectory, end: Int64) {
    let directory = try TemporaryDirectory()
    let path = directory.file("damaged.store")
    let end: Int64
    do {
      let store = try Store(at: path, models: Artist.self)
      try store.changeJournal.enable()
      for id in 1...3 { try store.write { tx in try tx.insert(Artist(id: Int64(id), name: "a")) } }
      end = try store.changeJournal.position().rawValue
      store.close()
    }
    do {
      let database = try PlainDatabase(path)
      try database.execute("PRAGMA journal_mode = DELETE")
      for index in positions.indices.reversed() {
        let position = end - Int64(positions.count - 1 - index)
        try database.execute(
          "UPDATE _ms_journal SET position = \(marker(index)) WHERE position = \(position)")
      }
    }
    var bytes = try Data(contentsOf: URL(fileURLWithPath: path))
    // The table's rows. The index of commit records keeps the other position, in other bytes.
    for (index, position) in positions.enumerated() {
      let wanted = varint(marker(index))
      let replacement = varint(position)
      try #require(wanted.count == replacement.count)
      let place = try #require(bytes.firstRange(of: wanted))
      bytes.replaceSubrange(place, with: replacement)
    }
    try bytes.write(to: URL(fileURLWithPath: path))
    return (directory, end)
  }

  /// A position that is found again in the bytes of the file.
  private static func marker(_ index: Int) -> Int64 { 0x1122_3344_5566_7788 + Int64(index) << 8 }

  /// A number as SQLite stores it in nine bytes: https://sqlite.org/fileformat2.html#varint
  private static func varint(_ number: Int64) -> Data {
    let bits = UInt64(bitPattern: number)
    var bytes: [UInt8] = []
    for place in 0..<8 {
      let part: UInt64 = bits >> UInt64(57 - 7 * place)
      bytes.append(UInt8(truncatingIfNeeded: part) | 0x80)
    }
    bytes.append(UInt8(truncatingIfNeeded: bits))
    return Data(bytes)
  }

  /// The result of a read: the code of its error, or "ok".
  private static func outcome(_ reading: () throws -> Void) throws -> String {
    do {
      try reading()
      return "ok"
    } catch let error as StoreError {
      return error.code.rawValue
    }
  }

  /// A row that is too low for its place is damage. The highest position of all is in order behind
  /// the others: only readers that need everything refuse it, and trimming finds the row missing
  /// that the index still has.
  @Test(
    arguments: [
      (Int64.min, ["corrupt", "corrupt", "corrupt", "corrupt", "corrupt"]),
      (Int64.min + 1, ["corrupt", "corrupt", "corrupt", "corrupt", "corrupt"]),
      (Int64(-1), ["corrupt", "corrupt", "corrupt", "corrupt", "corrupt"]),
      (Int64.max, ["journalGap", "journalGap", "ok", "corrupt", "journalGap"]),
    ])
  func everyReaderOfADamagedJournalTerminates(position: Int64, outcomes: [String]) throws {
    let (directory, _) = try Self.damaged([position])
    let store = try Store(at: directory.file("damaged.store"), models: Artist.self)
    let journal = store.changeJournal
    let readings: [() throws -> Void] = [
      { _ = try journal.transactions() }, { _ = try journal.newestTransactions() },
      { _ = try journal.status() },
      { try journal.trim(JournalRetention(maxEntryCount: 1), mode: .preview) },
      { _ = try store.previewUndo(1) },
    ]
    #expect(try readings.map { try Self.outcome($0) } == outcomes)
  }

  /// The bounds equal the bounds of a journal in order.
  @Test(
    arguments: [
      [Int64(1 << 60) + 5, Int64(1 << 60) + 3], [Int64(-1), Int64(1 << 60)],
      [Int64.min, Int64(1 << 60)],
    ])
  func aRowInTheMiddleThatIsOutOfOrderEndsReading(positions: [Int64]) throws {
    let (directory, end) = try Self.damaged(positions)
    let store = try Store(at: directory.file("damaged.store"), models: Artist.self)
    var seen: [Int64] = []
    let code = try Self.outcome {
      try store.engine.connections.readers.sync { connection in
        #expect(try JournalReader.bounds(on: connection) == 1...positions[1])
        let layouts = try #require(try JournalLayouts(reading: connection))
        try JournalReader(connection: connection, layouts: layouts).forEachEntry(after: 0) {
          seen.append($0.position)
          return true
        }
      }
    }
    #expect(code == "corrupt")
    #expect(seen == Array(1...end - 2))
    #expect(try Self.outcome { _ = try store.changeJournal.transactions() } == "corrupt")
  }

  @Test("a row that is too high for its place does not hide those behind it")
  func aRowThatIsTooHighIsFoundFromBehind() throws {
    let (directory, _) = try Self.damaged([Int64(1 << 60) + 5, Int64(1 << 60) + 3])
    let store = try Store(at: directory.file("damaged.store"), models: Artist.self)
    #expect(try Self.outcome { _ = try store.changeJournal.newestTransactions() } == "corrupt")
  }

  @Test func boundsAreThoseOfAJournalInOrder() throws {
    let limit = JournalReader.positionMax
    #expect(try JournalReader.bounds(first: nil, last: nil) == nil)
    #expect(try JournalReader.bounds(first: 1, last: 1) == 1...1)
    #expect(try JournalReader.bounds(first: 3, last: limit) == 3...limit)
    let ends: [(Int64?, Int64?)] = [
      (-5, 3), (1, -1), (7, 3), (1, limit + 1), (1, nil), (nil, 3), (0, 3), (.min, .max),
    ]
    for (first, last) in ends {
      let error = failure { try JournalReader.bounds(first: first, last: last) }
      #expect(error?.code == .corrupt, "\(String(describing: first)) \(String(describing: last))")
    }
  }
}
