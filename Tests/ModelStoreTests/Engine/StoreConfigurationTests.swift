import Testing

@testable import ModelStore

@Suite(.tags(.unit)) struct StoreConfigurationTests {
  @Test func everyPropertyIsAParameter() {
    let ledger = MemoryLedger().shared(as: "music")
    let function = SQLFunction("half", argumentCount: 1) { $0[0] }
    let configuration = StoreConfiguration(
      sharing: .group, access: .readWrite, durability: .normal, busyTimeout: .seconds(1),
      maxReaderCount: 2, cacheSize: 3, checkpointFrameCount: 4, statementCacheCapacity: 5,
      maxValueSize: 6, journalMode: .asFound,
      refusals: .init(stopsAtFirst: true, maxViolationCount: 7, includesValues: true),
      schemaChanges: .none, schemaProgress: .init { _, _, _ in }, changeJournal: .keys,
      journalRetention: JournalRetention(
        maxEntryCount: 8), functions: [function], ledger: ledger)
    var wanted = StoreConfiguration()
    wanted.sharing = .group
    wanted.access = .readWrite
    wanted.durability = .normal
    wanted.busyTimeout = .seconds(1)
    wanted.maxReaderCount = 2
    wanted.cacheSize = 3
    wanted.checkpointFrameCount = 4
    wanted.statementCacheCapacity = 5
    wanted.maxValueSize = 6
    wanted.journalMode = .asFound
    wanted.refusals.stopsAtFirst = true
    wanted.refusals.maxViolationCount = 7
    wanted.refusals.includesValues = true
    wanted.schemaChanges = .none
    wanted.schemaProgress = .init { _, _, _ in }
    wanted.changeJournal = .keys
    wanted.journalRetention = JournalRetention(maxEntryCount: 8)
    wanted.functions = [function]
    wanted.ledger = ledger
    #expect(configuration == wanted)
    // Each of them differs from its default, so none can be forgotten unseen.
    let defaults = Mirror(reflecting: StoreConfiguration()).children
    let unchanged = zip(Mirror(reflecting: configuration).children, defaults)
      .filter { "\($0.value)" == "\($1.value)" }.map(\.0.label)
    #expect(unchanged == ["fileSystem", "readsOnWriter", "stopRequest"])
  }

  @Test func withoutArgumentsItHasTheDefaults() {
    let configuration = StoreConfiguration()
    #expect(configuration.sharing == .owner)
    #expect(configuration.access == .readWriteCreate)
    #expect(configuration.durability == .full)
    #expect(configuration.busyTimeout == .seconds(5))
    #expect(configuration.maxReaderCount == 4)
    #expect(configuration.cacheSize == 16_777_216)
    #expect(configuration.checkpointFrameCount == 1000)
    #expect(configuration.statementCacheCapacity == 128)
    #expect(configuration.maxValueSize == 1_000_000_000)
    #expect(configuration.journalMode == .writeAheadLog)
    #expect(configuration.refusals == StoreConfiguration.Refusals())
    #expect(configuration.refusals.maxViolationCount == 100)
    #expect(!configuration.refusals.stopsAtFirst && !configuration.refusals.includesValues)
    #expect(configuration.schemaChanges == .createTables)
    #expect(configuration.changeJournal == nil)
    #expect(configuration.journalRetention == nil)
    #expect(configuration.functions == [])
  }

  @Test func aConflictNamesTheSettingsThatDiffer() throws {
    let directory = try TemporaryDirectory()
    let path = directory.file("shared.store")
    let store = try Store(at: path, configuration: StoreConfiguration())
    func message(_ change: (inout StoreConfiguration) -> Void) -> String? {
      var configuration = StoreConfiguration()
      change(&configuration)
      return failure { try Store(at: path, configuration: configuration) }?.message
        .replacing(store.path, with: "PATH")
    }
    #expect(
      message { $0.durability = .normal }
        == "PATH is already open in this process with durability full; this store wants normal.")
    #expect(
      message {
        $0.access = .readOnly
        $0.maxReaderCount = 1
      }
        == "PATH is already open in this process with access readWriteCreate, maxReaderCount 4; this store wants readOnly, 1."
    )
    #expect(
      message { $0.refusals.stopsAtFirst = true }
        == "PATH is already open in this process with other refusals; this store wants its own.")
  }
}
