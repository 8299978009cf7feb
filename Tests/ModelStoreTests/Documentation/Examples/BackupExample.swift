import ModelStore
import Testing

@Suite(.tags(.unit)) struct BackupExample {
  @Test func aBackupIsMadeAndRestored() throws {
    let directory = try TemporaryDirectory()
    let path = directory.file("library.store")
    let backupPath = directory.file("backup.store")
    let store = try Store(at: path, models: Author.self, Book.self)
    try store.write { tx in try tx.insert(Author(id: 1, name: "Ursula K. Le Guin")) }
    // snippet: backup-make
    let backup = try store.backup(to: backupPath)
    try store.write { tx in try tx.insert(Author(id: 2, name: "Stanisław Lem")) }
    // backup.position: the newest change in it
    // end
    #expect(backup.position == .start)
    // snippet: backup-restore
    try Store.restore(path, from: backupPath)
    let names = try store.fetch(Author.all).map(\.name)
    // names: ["Ursula K. Le Guin"]
    // end
    #expect(names == ["Ursula K. Le Guin"])
    try store.write { tx in
      for id in 1...Int64(2000) { try tx.insert(Author(id: id + 1, name: "Author \(id)")) }
    }
    try store.write { tx in _ = try tx.delete(Author.where { $0.id > 1 }) }
    // snippet: backup-compact
    let sizes = try store.compact()
    let isSmaller = sizes.byteCountAfter < sizes.byteCountBefore
    // isSmaller: true
    // end
    #expect(isSmaller)
  }

  @Test func storesAreComparedAndBroughtInLine() throws {
    let directory = try TemporaryDirectory()
    var configuration = StoreConfiguration()
    configuration.changeJournal = .full
    let store = try Store(
      at: directory.file("library.store"), models: Author.self, configuration: configuration)
    let other = try Store(at: directory.file("other.store"), models: Author.self)
    try store.write { tx in
      try tx.insert(Author(id: 1, name: "Stanisław Lem"))
      try tx.insert(Author(id: 2, name: "Ursula Le Guin"))
    }
    try other.write { tx in try tx.insert(Author(id: 2, name: "Ursula K. Le Guin")) }
    // snippet: comparing-stores
    let differences = try store.difference(to: other)
    let lines = differences.map { "\($0.operation) \($0.model) \($0.key)" }
    // lines: ["delete Author [1]", "update Author [2]"]

    try store.apply(differences)
    let isEqual = try store.contentHash() == other.contentHash()
    // isEqual: true
    // end
    #expect(lines == ["delete Author [1]", "update Author [2]"])
    #expect(isEqual)
    // snippet: comparing-large-stores
    var count = 0
    try store.forEachDifference(to: other) { _ in count += 1 }
    // count: 0
    // end
    #expect(count == 0)
    // snippet: comparing-positions
    let start = try store.changeJournal.position()
    try store.write { tx in try tx.set(\Author.name, to: "U. K. Le Guin", for: 2) }
    let changed = try store.difference(from: start).map(\.key)
    // changed: [[2]]
    // end
    #expect(changed == [[.integer(2)]])
  }
}
