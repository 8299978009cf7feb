import ModelStore
import Synchronization

/// The warnings of a store while it opens. Later errors are passed on at once.
final class OpeningWarnings: Sendable {
  /// nil once the store is open.
  private let warnings = Mutex<[StoreError]?>([])
  private let handOn: @Sendable (StoreError) -> Void

  /// - Parameter handOn: Receives the errors after the opening; any thread may call it.
  init(handOn: @escaping @Sendable (StoreError) -> Void) {
    self.handOn = handOn
  }

  /// Takes an error that the store reports outside a call.
  @Sendable func receive(_ error: StoreError) {
    let isOpening = warnings.withLock { warnings in
      warnings?.append(error)
      return warnings != nil
    }
    if !isOpening { handOn(error) }
  }

  /// Ends the opening and returns its warnings in their order.
  func endOpening() -> [StoreError] {
    warnings.withLock { warnings in
      defer { warnings = nil }
      return warnings ?? []
    }
  }
}
