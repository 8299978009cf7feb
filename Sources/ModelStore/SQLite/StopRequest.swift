/// A question that a store asks while a statement runs or a lock is waited for: whether the program
/// wants its work to end. A statement that is stopped this way fails with
/// ``StoreError/Code/cancelled``, a wait with ``StoreError/Code/busy``; the transaction is rolled
/// back.
package struct StopRequest: Hashable, Sendable {
  /// Any thread may call it. It is called often, so it only reads a flag.
  package let isMade: @Sendable () -> Bool

  package init(_ isMade: @escaping @Sendable () -> Bool) {
    self.isMade = isMade
  }

  /// A request concerns the process, so all are alike: stores may share an engine.
  package static func == (first: StopRequest, second: StopRequest) -> Bool { true }

  package func hash(into hasher: inout Hasher) {}
}
