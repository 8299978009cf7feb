// Durable readers of the change journal.
extension Store {
  /// Returns the consumer called `name`, and creates it if it does not exist.
  ///
  /// - Parameters:
  ///   - name: Unique in the file.
  ///   - start: Where a new consumer begins. An existing one continues at its position.
  /// - Throws: ``StoreError`` with code `readOnly` for a new consumer in a store that cannot write,
  ///   `misuse` for an empty name.
  public func consumer(
    _ name: String, startingAt start: Consumer.Start = .end
  ) throws -> Consumer {
    guard !name.isEmpty else { throw StoreError(.misuse, "A consumer needs a name.") }
    let isKnown = try open.connections.readers.sync { connection in
      try engine.read(connection) { tx in
        try JournalLayouts(reading: tx.access.connection).map { _ in
          try JournalConsumers(connection: tx.access.connection).cursor(of: name) != nil
        }
      }
    }
    // In a file that no store has written to yet, the table of consumers does not exist.
    if isKnown == nil { try open.catalog.changing { _ in } }
    if isKnown != true {
      try open.maintenance.transaction { connection in
        let consumers = JournalConsumers(connection: connection)
        // Another process may have created it meanwhile.
        guard try consumers.cursor(of: name) == nil else { return }
        try consumers.put(
          name, at: Self.position(start, on: connection), time: WritingProgram.now)
      }
    }
    return Consumer(name: name, lease: lease)
  }

  /// Returns the position of each consumer of the file, by name.
  public func consumers() throws -> [ConsumerStatus] {
    try open.connections.readers.sync { connection in
      try engine.read(connection) { tx in
        let connection = tx.access.connection
        guard try JournalLayouts(reading: connection) != nil else { return [] }
        let bounds = try JournalReader.bounds(on: connection)
        return try JournalConsumers(connection: connection).all()
          .map {
            try ConsumerStatus(name: $0.name, cursor: $0.cursor, bounds: bounds, on: connection)
          }
      }
    }
  }

  /// Moves a consumer to another position, forwards or backwards. Batches that it received before
  /// can no longer be acknowledged.
  ///
  /// - Parameter start: A position after the journal's end counts as the end.
  /// - Throws: ``StoreError`` with code `unknownConsumer`.
  public func resetConsumer(_ name: String, to start: Consumer.Start) throws {
    try open.maintenance.transaction { connection in
      _ = try Consumer.cursor(of: name, on: connection)
      try JournalConsumers(connection: connection).put(
        name, at: Self.position(start, on: connection), time: WritingProgram.now)
    }
    engine.journalListeners.ring()
  }

  /// Deletes a consumer. The journal then keeps no entries for it.
  ///
  /// - Throws: ``StoreError`` with code `unknownConsumer`.
  public func dropConsumer(_ name: String) throws {
    try open.maintenance.transaction { connection in
      _ = try Consumer.cursor(of: name, on: connection)
      _ = try JournalConsumers(connection: connection).remove(name)
    }
    engine.journalListeners.ring()
  }

  private static func position(
    _ start: Consumer.Start, on connection: Connection
  ) throws -> Int64 {
    let end = try JournalReader.bounds(on: connection)?.upperBound ?? 0
    switch start {
    case .start: return 0
    case .end: return end
    case .position(let position): return min(max(0, position.rawValue), end)
    }
  }
}
