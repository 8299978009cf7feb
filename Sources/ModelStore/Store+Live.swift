extension Store {
  /// Keeps the result of `query` up to date from now on. Its ``LiveQuery/plan`` describes how. Most
  /// results are updated record by record. For a view, or a condition or order that only SQLite can
  /// evaluate, the query is re-executed after each commit that touches the data it reads.
  ///
  /// - Throws: ``StoreError`` with code `invalidQuery` for a query that reads a table which is not
  ///   a model, because its changes cannot be observed; `misuse` inside a write of this store.
  /// - Complexity: Reads the result once, while others write. A re-executed query, and a window,
  ///   are read while writers wait. If an equal query is already live and kept in a tree, with or
  ///   without a window, nothing is read. For later costs see ``LivePlan``.
  public func liveQuery<Element>(_ query: StoreQuery<Element>) throws -> LiveQuery<Element> {
    let source = try open.source(for: try LiveBlueprint(query))
    return LiveQuery(query: query, source: source, store: LiveStore(lease))
  }
}

extension LiveStore {
  /// The parts of a store that live queries need. They do not keep it open.
  init(_ lease: StoreLease) {
    let broker = lease.engine.broker
    self.init(scope: lease.scope) { [weak lease] body in
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
