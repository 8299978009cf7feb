extension Store {
  /// Keeps the result of `query` true from now on. Its ``LiveQuery/plan`` says how: record by
  /// record, or, for a condition or order that only SQLite can evaluate and for a view, by running
  /// the query again after each commit that touches what it reads.
  ///
  /// - Throws: ``StoreError`` with code `invalidQuery` for a query that reads a table which is no
  ///   model, whose changes nobody sees; `misuse` inside a write of this store.
  /// - Complexity: Reads the result once, while others write; a query that is run again, and a
  ///   window, are read while writers wait. Where an equal query lives already that is followed by
  ///   a tree of places, with or without a window, nothing is read. Then see ``LivePlan``.
  public func liveQuery<Element>(_ query: StoreQuery<Element>) throws -> LiveQuery<Element> {
    let source = try open.source(for: try LiveBlueprint(query))
    return LiveQuery(query: query, source: source, store: LiveStore(lease))
  }
}

extension LiveStore {
  /// What live queries of a store need. They do not keep it open.
  init(_ lease: StoreLease) {
    let broker = lease.engine.broker
    self.init(scope: lease.scope, calls: lease.engine.calls) { [weak lease] body in
      let engine = try lease.open
      try engine.atPublishedState { writer in
        let connection = writer.connection
        try body(
          Reading(
            read: { text in try connection.rows(text) { row in try row.values() } },
            broker: broker))
      }
    }
  }
}
