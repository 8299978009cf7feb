#if Postgres
  import ModelStore
  import ModelStorePostgres

  /// A shared store in the database of the workloads, with tracks in it.
  struct SharedFixture {
    let address: String
    let name: String
    let policy: [String: String]
    private let directory: TemporaryDirectory

    /// - Throws: ``MissingPeer`` if no server is named.
    init(in directory: TemporaryDirectory) throws {
      address = try BarePostgres.address()
      policy = try BarePostgres(address).policy()
      name = "tracks \(UInt64.random(in: 0 ... .max))"
      self.directory = directory
    }

    /// Opens the member with that number. The first one founds the store with `tracks`.
    func member(_ number: Int, tracks: [Track] = []) throws -> Store {
      let path = directory.file("\(number).sqlite")
      if !tracks.isEmpty {
        try Store.createTracks(tracks, at: path, synchronous: .normal, journal: .full).close()
      }
      var configuration = StoreConfiguration(
        durability: .normal, busyTimeout: .seconds(60), changeJournal: .full)
      configuration.cacheSize = 64 * 1024 * 1024
      // Each member has connections of its own, as if it were on another machine.
      configuration.ledger = try .postgres(address, store: name)
      return try Store(at: path, models: StoredTrack.self, configuration: configuration)
    }

    /// The bytes of a record in the ledger, on average.
    func recordSize() throws -> Int {
      let text = try BarePostgres(address).execute(
        "SELECT avg(length(record))::bigint FROM modelstore.commits WHERE store = '\(name)'")
      return text.flatMap { Int($0) } ?? 0
    }
  }
#endif
