import CSQLite
import Testing

@testable import ModelStore

@Suite(.tags(.unit)) struct MemoryDatabaseTests {
  // Bytes

  private static func bytes(of file: MemoryBytes, _ range: Range<Int>) -> [UInt8] {
    var target = [UInt8](repeating: 0xFF, count: range.count)
    let count = target.withUnsafeMutableBytes { file.read(into: $0, at: range.lowerBound) }
    return Array(target.prefix(count))
  }

  private static func write(_ bytes: [UInt8], to file: inout MemoryBytes, at offset: Int) {
    bytes.withUnsafeBytes { file.write($0, at: offset) }
  }

  @Test func aFileIsWhatWasWrittenToIt() throws {
    var file = MemoryBytes()
    var model: [UInt8] = []
    var random = SeededGenerator(seed: 7)
    for _ in 1...300 {
      let offset = Int.random(in: 0...200_000, using: &random)
      if Int.random(in: 0..<5, using: &random) == 0 {
        file.truncate(to: offset)
        model =
          Array(model.prefix(offset))
          + [UInt8](repeating: 0, count: max(0, offset - model.count))
      } else {
        let count = Int.random(in: 1...90_000, using: &random)
        let written = [UInt8](repeating: UInt8.random(in: 1...255, using: &random), count: count)
        Self.write(written, to: &file, at: offset)
        model += [UInt8](repeating: 0, count: max(0, offset + count - model.count))
        model.replaceSubrange(offset..<offset + count, with: written)
      }
      // Compared outside the macro, which would take minutes to list the differences.
      let isEqual = Self.bytes(of: file, 0..<400_000) == model
      try #require(isEqual)
    }
  }

  @Test func readingBeyondTheEndReadsLess() {
    var file = MemoryBytes()
    Self.write([1, 2, 3], to: &file, at: 2)
    #expect(Self.bytes(of: file, 1..<9) == [0, 1, 2, 3])
    #expect(Self.bytes(of: file, 5..<9) == [])
    #expect(Self.bytes(of: file, 70..<79) == [])
  }

  // Locks

  @Test func oneConnectionWritesAndWaitsForTheLastReader() {
    let database = MemoryDatabase.make()
    let (writer, reader) = (database.hold(.main), database.hold(.main))
    defer { for file in [writer, reader] { database.close(file) } }
    #expect(database.lock(writer, SQLITE_LOCK_SHARED))
    #expect(database.lock(reader, SQLITE_LOCK_SHARED))
    #expect(!database.isReserved)
    #expect(database.lock(writer, SQLITE_LOCK_RESERVED))
    #expect(database.isReserved)
    #expect(!database.lock(reader, SQLITE_LOCK_RESERVED))
    #expect(!database.lock(writer, SQLITE_LOCK_EXCLUSIVE))
    database.unlock(reader, to: SQLITE_LOCK_NONE)
    // While the writer waits for readers to leave, no reader may enter.
    #expect(!database.lock(reader, SQLITE_LOCK_SHARED))
    #expect(database.lock(writer, SQLITE_LOCK_EXCLUSIVE))
    database.unlock(writer, to: SQLITE_LOCK_SHARED)
    #expect(database.lock(reader, SQLITE_LOCK_SHARED))
  }

  @Test func aLockOfTheLogIsSharedOrExclusive() {
    let database = MemoryDatabase.make()
    let (one, other) = (database.hold(.main), database.hold(.main))
    defer { for file in [one, other] { database.close(file) } }
    let (shared, exclusive) = (SQLITE_SHM_SHARED, SQLITE_SHM_EXCLUSIVE)
    #expect(database.lockIndex(one, 0b0110, SQLITE_SHM_LOCK | shared))
    #expect(database.lockIndex(other, 0b0010, SQLITE_SHM_LOCK | shared))
    #expect(!database.lockIndex(other, 0b1100, SQLITE_SHM_LOCK | exclusive))
    #expect(database.lockIndex(other, 0b1000, SQLITE_SHM_LOCK | exclusive))
    #expect(!database.lockIndex(one, 0b1000, SQLITE_SHM_LOCK | shared))
    #expect(database.lockIndex(other, 0b1000, SQLITE_SHM_UNLOCK | exclusive))
    #expect(database.lockIndex(one, 0b1000, SQLITE_SHM_LOCK | shared))
    database.unmapIndex(one)
    #expect(database.lockIndex(other, 0b1100, SQLITE_SHM_LOCK | exclusive))
  }

  @Test func theLastConnectionToUnmapTheIndexFreesIt() throws {
    let database = MemoryDatabase.make()
    let (one, other) = (database.hold(.main), database.hold(.main))
    defer { for file in [one, other] { database.close(file) } }
    #expect(database.mapIndex(one, region: 1, byteCount: 32, creating: false) == nil)
    let region = try #require(database.mapIndex(one, region: 1, byteCount: 32, creating: true))
    region.storeBytes(of: 7, as: UInt8.self)
    #expect(database.mapIndex(other, region: 1, byteCount: 32, creating: false) == region)
    database.unmapIndex(one)
    #expect(region.load(as: UInt8.self) == 7)
    database.unmapIndex(other)
    #expect(database.mapIndex(other, region: 1, byteCount: 32, creating: false) == nil)
  }

  @Test func anUnknownNameCannotBeOpened() {
    let error = #expect(throws: SQLiteError.self) {
      var policy = StoreConfiguration().connectionPolicy
      policy.fileSystem = MemoryFileSystem.name
      _ = try Connection(path: "/tmp/some.store", role: .writer, policy: policy)
    }
    #expect(error?.code.primary == .cannotOpen)
  }

  @Test func aDatabaseWithoutConnectionsIsFreed() {
    let unopened = MemoryDatabase.make()
    unopened.discardUnused()
    #expect(MemoryDatabase.find(unopened.name) == nil)
    let opened = MemoryDatabase.make()
    let holders = [opened.hold(.main), opened.hold(.main)]
    opened.discardUnused()
    opened.close(holders[0])
    #expect(MemoryDatabase.find(opened.name)?.database === opened)
    opened.close(holders[1])
    #expect(MemoryDatabase.find(opened.name) == nil)
  }
}
