import ModelStore
import Testing

@Suite(.tags(.unit)) struct DeploymentExample {
  @Test func aBackupIsCheckedBeforeItIsTrusted() throws {
    let directory = try TemporaryDirectory()
    let path = directory.file("library.store")
    let backupPath = directory.file("backup.store")
    let refused = Recorder<StoreError.Code>()
    // snippet: deployment-open
    var configuration = StoreConfiguration()
    configuration.durability = .full
    configuration.busyTimeout = .seconds(10)
    configuration.journalRetention = JournalRetention(
      age: .seconds(30 * 24 * 60 * 60), maxByteCount: 256 * 1024 * 1024)
    let store = try Store(
      at: path, models: Author.self, Book.self, configuration: configuration,
      onError: { error in refused.add(error.code) })
    // end
    try store.write { tx in try tx.insert(Author(id: 1, name: "Ursula K. Le Guin")) }
    // snippet: deployment-backup-check
    try store.backup(to: backupPath)
    var reading = StoreConfiguration()
    reading.access = .readOnly
    let backup = try Store(at: backupPath, configuration: reading)
    let damage = try backup.checkIntegrity()
    let isEqual = try backup.contentHash() == store.contentHash()
    // damage: [], isEqual: true
    // end
    #expect(damage == [])
    #expect(isEqual)
    #expect(refused.events == [])
  }
}
