// A member of a shared store, as a process of its own: what the tests kill.
//
// Usage: SharedMember write PATH CONNECTION STORE FIRST COUNT [BYTES]
//        SharedMember follow PATH CONNECTION STORE
//        SharedMember upgrade PATH CONNECTION STORE VERSION
//
// `write` inserts deposits and prints the number of each after its write has returned. `follow`
// prints "open" and the number of each deposit that it receives, until its input ends. With BYTES,
// it publishes a snapshot after that many bytes of commits, and at least the size of its file.
// `upgrade` is a newer program: it has one more model for each version, and prints "open".
#if Postgres
  import FaultLedger
  import ModelStore
  import ModelStorePostgres

  #if canImport(Glibc)
    import Glibc
  #elseif canImport(Musl)
    import Musl
  #else
    import Darwin
  #endif

  /// Prints a line at once, although the output is a pipe.
  func say(_ line: String) {
    let bytes = Array("\(line)\n".utf8)
    precondition(write(STDOUT_FILENO, bytes, bytes.count) == bytes.count)
  }

  func open(
    _ path: String, _ connection: String, _ name: String, snapshotByteCountMin: Int64?,
    version: Int = 0
  ) throws -> Store {
    var configuration = StoreConfiguration(
      durability: .normal, busyTimeout: .seconds(10), changeJournal: .full)
    configuration.ledger = try .postgres(connection, store: name)
    configuration.ledger?.rebuildsMembers = true
    if let snapshotByteCountMin {
      configuration.ledger?.snapshotByteCountMin = snapshotByteCountMin
    }
    var declarations = Declarations(
      models: [Account.self, Deposit.self],
      bindings: [
        .aggregate(.sum(\Deposit.amount), into: \Account.balance, through: \Deposit.accountID)
      ], changeJournal: .full)
    for number in 0..<version {
      declarations.models.append(
        ModelSchema(
          name: "Extra\(number)", fields: [FieldSchema(name: "id", type: .integer, isRowID: true)],
          key: ["id"]))
    }
    return try Store(
      at: path, declaring: declarations, configuration: configuration,
      onError: StoreError.writeToStandardError)
  }

  func insert(into store: Store, from first: Int64, count: Int64) throws {
    for number in first..<first + count {
      do {
        try store.write { tx in
          // Every member does this, so only the first one changes anything.
          for id in 0..<Int64(5) where try tx.find(Account.self, id) == nil {
            try tx.insert(Account(id: id))
          }
          try tx.insert(Deposit(id: number))
        }
        say("\(number)")
      } catch let error as StoreError {
        // The number is not written again: the ledger may have it.
        say("\(number) \(error.code.rawValue)")
        guard [.ledgerUnavailable, .busy, .outcomeUnknown].contains(error.code) else { throw error }
        poll(nil, 0, 100)
      }
    }
  }

  func follow(_ store: Store) throws {
    let token = try store.observe(Deposit.self) { event in
      if event.isReset { say("reset") }
      for change in event.changes { say("\(change.new?.id ?? 0) \(change.origin)") }
    }
    say("open")
    while readLine() != nil {}
    token.cancel()
  }

  let words = CommandLine.arguments
  guard words.count >= 5 else {
    fatalError("SharedMember write|follow|upgrade PATH CONNECTION STORE …")
  }
  let store = try open(
    words[2], words[3], words[4],
    snapshotByteCountMin: words.count == 8 ? Int64(words[7]) : nil,
    version: words[1] == "upgrade" ? Int(words[5]) ?? 0 : 0)
  if words[1] == "write", words.count >= 7, let first = Int64(words[5]), let count = Int64(words[6])
  {
    try insert(into: store, from: first, count: count)
  } else if words[1] == "upgrade" {
    say("open")
  } else {
    try follow(store)
  }
  store.close()
#else
  fatalError("This program needs the trait Postgres.")
#endif
