internal import Synchronization

/// One store's share in the ``StoreEngine`` of its file.
///
/// Everything that was started through it ends when the store closes or is released. The engine
/// closes with its last lease.
///
/// A ``Consumer`` holds the lease, so it can continue to read after its store was released.
/// Sequences do not hold it: they end with the store.
final class StoreLease: Sendable {
  let engine: StoreEngine
  /// The observations of the store.
  let scope: ObservationScope
  let tellings = EventTellings()
  private let isClosed = Atomic(false)
  private let refusesWrites = Atomic(false)

  init(_ engine: StoreEngine, report: @escaping @Sendable (StoreError) -> Void) {
    self.engine = engine
    let monitors = engine.monitors
    scope = ObservationScope(engine.broker, monitors: monitors) { error in
      report(error)
      monitors.send(.failure(error))
    }
    engine.reports.add(report, as: scope.number)
  }

  deinit { end(.whenIdle) }

  /// The engine, while the store exists and is open.
  ///
  /// - Throws: ``StoreError`` with code `misuse` after the store was closed or released.
  var open: StoreEngine {
    get throws {
      guard !scope.hasEnded else { throw Self.closed }
      return engine
    }
  }

  /// The engine until the store is closed, even if the store was released.
  ///
  /// - Throws: ``StoreError`` with code `misuse` after the store was closed.
  var held: StoreEngine {
    get throws {
      guard !isClosed.load(ordering: .sequentiallyConsistent) else { throw Self.closed }
      return engine
    }
  }

  /// The engine for a write, while the store is open and accepts writes.
  ///
  /// - Throws: ``StoreError`` with code `misuse` or `shuttingDown`.
  var openForWriting: StoreEngine {
    get throws {
      let engine = try open
      try checkAcceptsWrites()
      return engine
    }
  }

  /// Refuses writes from now on.
  func refuseWrites() { refusesWrites.store(true, ordering: .relaxed) }

  /// - Throws: ``StoreError`` with code `shuttingDown` after ``refuseWrites()``.
  func checkAcceptsWrites() throws {
    guard !refusesWrites.load(ordering: .relaxed) else {
      throw StoreError(
        .shuttingDown, "The store is shutting down and accepts no new write. Nothing was changed.")
    }
  }

  static var closed: StoreError { StoreError(.misuse, "The store is closed.") }

  /// The way in which the last lease closes the engine.
  enum Closing {
    /// Returns when all running work has ended and every connection is closed.
    case waiting
    /// Closes connections in use when they become idle.
    case whenIdle
  }

  /// Ends all observations of the store. In a forked child it does nothing.
  func endObservations() {
    guard engine.presence.process.isCurrent, scope.end() else { return }
    engine.journalListeners.ring()
  }

  /// Ends everything that was started through the lease, and the engine if this was the last lease.
  ///
  /// A second call does nothing. A call in a forked child does nothing either.
  func end(_ closing: Closing) {
    guard engine.presence.process.isCurrent,
      !isClosed.exchange(true, ordering: .sequentiallyConsistent)
    else { return }
    endObservations()
    engine.reports.remove(scope.number)
    if StoreEngines.release(engine) { engine.close(closing) }
    // Writes that ended meanwhile were still reported.
    engine.monitors.remove(of: scope.number)
  }
}

extension StoreLease? {
  /// The engine of a weakly held lease.
  ///
  /// - Throws: ``StoreError`` with code `misuse` after the store was closed or released.
  var open: StoreEngine {
    get throws {
      guard let self else { throw StoreLease.closed }
      return try self.open
    }
  }
}

extension StoreLease? {
  /// The engine of a weakly held lease, for a write.
  ///
  /// - Throws: ``StoreError`` with code `misuse` or `shuttingDown`.
  var openForWriting: StoreEngine {
    get throws {
      guard let self else { throw StoreLease.closed }
      return try self.openForWriting
    }
  }
}

extension JournalListeners.Listener {
  /// Creates a listener that ends when the lease's store is closed or released.
  convenience init(_ lease: StoreLease) {
    self.init(lease.engine.journalListeners) { [scope = lease.scope] in scope.hasEnded }
  }
}
