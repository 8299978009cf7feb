// Asynchronous forms of calls that may read the file. Swift picks them in asynchronous functions.
extension LiveQuery {
  /// Calls `body` for each commit that changes the result, as the synchronous form does. The
  /// observation has begun when the call returns.
  ///
  /// - Throws: As the synchronous form; `CancellationError` if you cancel the task.
  public func observe(
    options: ObservationOptions = [], coalescing: CoalescingPolicy = .standard,
    _ body: @escaping @Sendable (QueryChanges<Element>) -> Void
  ) async throws -> ObservationToken {
    try await store.calls.run { [self] in
      try observe(options: options, coalescing: coalescing, body)
    }
  }

  /// Returns the changes from now on, for one `for try await` loop:
  ///
  /// ```swift
  /// for try await changes in try await live.changes(options: .initial) {
  ///   changes.apply(to: &records)
  /// }
  /// ```
  ///
  /// - Throws: As the synchronous form; `CancellationError` if you cancel the task.
  public func changes(
    options: ObservationOptions = [], coalescing: CoalescingPolicy = .standard
  ) async throws -> ChangeSequence<QueryChanges<Element>> {
    try await store.calls.run { [self] in
      try changes(options: options, coalescing: coalescing)
    }
  }

  /// Shows another part of the result from now on, as the synchronous form does.
  ///
  /// - Throws: As the synchronous form; `CancellationError` if you cancel the task.
  public func moveWindow(offset: Int, limit: Int?) async throws {
    try await store.calls.run { [self] in try moveWindow(offset: offset, limit: limit) }
  }
}

extension LiveList {
  /// Calls `body` for each commit that changes the list, as the synchronous form does. The
  /// observation has begun when the call returns.
  ///
  /// - Throws: As the synchronous form; `CancellationError` if you cancel the task.
  public func observe(
    options: ObservationOptions = [], coalescing: CoalescingPolicy = .standard,
    _ body: @escaping @Sendable (ListChanges<Key>) -> Void
  ) async throws -> ObservationToken {
    try await store.calls.run { [self] in
      try observe(options: options, coalescing: coalescing, body)
    }
  }

  /// Returns the changes from now on, for one `for try await` loop.
  ///
  /// - Throws: As the synchronous form; `CancellationError` if you cancel the task.
  public func changes(
    options: ObservationOptions = [], coalescing: CoalescingPolicy = .standard
  ) async throws -> ChangeSequence<ListChanges<Key>> {
    try await store.calls.run { [self] in
      try changes(options: options, coalescing: coalescing)
    }
  }
}
