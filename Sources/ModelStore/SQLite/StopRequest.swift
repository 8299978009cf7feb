/// A check that a store makes during a statement or a wait for a lock: whether the program wants
/// the work to end. A statement then fails with ``StoreError/Code/cancelled``, a wait with
/// ``StoreError/Code/busy``. The transaction is rolled back.
package struct StopRequest: Hashable, Sendable {
  /// Called often and on any thread, so it should only read a flag.
  package let isMade: @Sendable () -> Bool

  package init(_ isMade: @escaping @Sendable () -> Bool) {
    self.isMade = isMade
  }

  /// A request concerns the whole process, so all requests are equal. This lets stores share an
  /// engine.
  package static func == (first: StopRequest, second: StopRequest) -> Bool { true }

  package func hash(into hasher: inout Hasher) {}
}
