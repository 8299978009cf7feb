internal import Synchronization

/// One store's share in the ``StoreEngine`` of its file. What was begun through it ends when the
/// store closes or goes; the engine closes with its last lease.
///
/// A ``Consumer`` holds the lease, so it can go on reading after its store has gone. Sequences do
/// not: they end with the store.
final class StoreLease: Sendable {
  let engine: StoreEngine
  /// What the store observes.
  let scope: ObservationScope
  private let isClosed = Atomic(false)

  init(_ engine: StoreEngine, report: @escaping @Sendable (StoreError) -> Void) {
    self.engine = engine
    scope = ObservationScope(engine.broker, report: report)
    engine.reports.add(report, as: scope.number)
  }

  deinit { end(.whenIdle) }

  /// The engine, while the store is there and open.
  ///
  /// - Throws: ``StoreError`` with code `misuse` once it is closed or gone.
  var open: StoreEngine {
    get throws {
      guard !scope.hasEnded else { throw Self.closed }
      return engine
    }
  }

  /// The engine, until the store is closed, also after it has gone.
  ///
  /// - Throws: ``StoreError`` with code `misuse` once it is closed.
  var held: StoreEngine {
    get throws {
      guard !isClosed.load(ordering: .sequentiallyConsistent) else { throw Self.closed }
      return engine
    }
  }

  static var closed: StoreError { StoreError(.misuse, "The store is closed.") }

  /// How the last lease closes the engine.
  enum Closing {
    /// It returns when everything that runs has ended and every connection is closed.
    case waiting
    /// Connections that are in use are closed when they are idle.
    case whenIdle
  }

  /// Ends everything that the store observes. In a forked child this does nothing.
  func endObservations() {
    guard engine.presence.process.isCurrent, scope.end() else { return }
    engine.journalListeners.ring()
  }

  /// Ends everything that was begun through the lease, and the engine when no other lease is left.
  /// Calling it again does nothing; nor does a call in a forked child.
  func end(_ closing: Closing) {
    guard engine.presence.process.isCurrent,
      !isClosed.exchange(true, ordering: .sequentiallyConsistent)
    else { return }
    endObservations()
    engine.reports.remove(scope.number)
    if StoreEngines.release(engine) { engine.close(closing) }
  }
}

extension StoreLease? {
  /// The engine of a lease that is held weakly.
  ///
  /// - Throws: ``StoreError`` with code `misuse` once the store is closed or gone.
  var open: StoreEngine {
    get throws {
      guard let self else { throw StoreLease.closed }
      return try self.open
    }
  }
}

extension JournalListeners.Listener {
  /// A listener until the lease's store closes or goes.
  convenience init(_ lease: StoreLease) {
    self.init(lease.engine.journalListeners) { [scope = lease.scope] in scope.hasEnded }
  }
}
