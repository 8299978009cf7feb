#if Service
  public import ModelStore
  public import ServiceLifecycle

  /// Closes a store when your program shuts down, without losing anything that was acknowledged.
  ///
  /// Put it before the services that use the store: a `ServiceGroup` shuts services down in reverse
  /// order, so the store closes last.
  ///
  /// ```swift
  /// let group = ServiceGroup(
  ///   services: [StoreService(store), server], gracefulShutdownSignals: [.sigterm],
  ///   logger: logger)
  /// try await group.run()
  /// ```
  ///
  /// On SIGTERM it calls `Store.shutDown(within:)`: new writes are refused, running and waiting
  /// ones finish, their events are delivered, the write-ahead log is copied, and the store is
  /// closed.
  public struct StoreService: Service {
    private let store: Store
    private let deadline: Duration

    /// Creates a service.
    ///
    /// - Parameter deadline: The longest time for the shutdown. Choose it shorter than the time
    ///   after which your platform kills the process.
    public init(_ store: Store, deadline: Duration = .seconds(10)) {
      self.store = store
      self.deadline = deadline
    }

    /// Waits for the shutdown, then closes the store. Cancelling the task has the same effect.
    ///
    /// - Throws: `StoreError` with code `shuttingDown` if the deadline passed.
    public func run() async throws {
      do {
        try await gracefulShutdown()
      } catch is CancellationError {
        // The group ends at once, because another service failed. The store still ends in order.
      }
      try await store.shutDown(within: deadline)
    }
  }
#endif
