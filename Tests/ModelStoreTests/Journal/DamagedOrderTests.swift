import Foundation
import Testing

@testable import ModelStore

/// A page of the change journal whose rows are not in order, as only damage leaves it: SQLite then
/// returns rows that were not asked for, and every reader ends with an error.
@Suite(.tags(.unit)) struct DamagedOrderTests {
  /// A journal whose last row has another position in its page than the order of rows allows.
  private static func damaged(position: Int64) throws -> TemporaryDirectory {
    let directory = try TemporaryDirectory()
    let path = directory.file("damaged.store")
    do {
      let store = try Store(at: path, models: Artist.self)
      try store.changeJournal.turnOn()
      for id in 1...3 { try store.write { tx in try tx.insert(Artist(id: Int64(id), name: "a")) } }
      store.close()
    }
    let database = try PlainDatabase(path)
    let marker = Int64(0x1122_3344_5566_7788)
    try database.execute(
      """
      PRAGMA journal_mode = DELETE;
      UPDATE _ms_journal SET position = \(marker)
      WHERE position = (SELECT max(position) FROM _ms_journal)
      """)
    var bytes = try Data(contentsOf: URL(fileURLWithPath: path))
    // The row's position, and its copy in the index of commit records.
    let wanted = varint(marker)
    let replacement = varint(position)
    try #require(wanted.count == replacement.count)
    let place = try #require(bytes.firstRange(of: wanted))
    bytes.replaceSubrange(place, with: replacement)
    try bytes.write(to: URL(fileURLWithPath: path))
    return directory
  }

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

  @Test(arguments: [Int64.min, .min + 1, -1, .max])
  func everyReaderEnds(position: Int64) throws {
    let directory = try Self.damaged(position: position)
    let store: Store
    do {
      store = try Store(at: directory.file("damaged.store"), models: Artist.self)
    } catch let error as StoreError {
      // Opening may find the damage.
      #expect([.corrupt, .journalGap].contains(error.code), "\(error)")
      return
    }
    let journal = store.changeJournal
    let readings: [() throws -> Void] = [
      { _ = try journal.transactions() }, { _ = try journal.newestTransactions() },
      { _ = try journal.status() },
      { try journal.trim(JournalRetention(entryCountMax: 1), isPreview: true) },
      { _ = try store.previewUndo(1) },
    ]
    for (number, reading) in readings.enumerated() {
      do {
        try reading()
      } catch let error as StoreError {
        #expect([.corrupt, .journalGap].contains(error.code), "reading \(number): \(error)")
      }
    }
  }
}
