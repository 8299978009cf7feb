extension StoreConfiguration {
  /// A closure that receives how far opening a store has changed the file, and that can stop it.
  ///
  /// ```swift
  /// var configuration = StoreConfiguration(schemaChanges: .migrate)
  /// configuration.schemaProgress = .init { model, done, all in
  ///   print("\(model): \(done) of \(all) records")
  /// }
  /// ```
  ///
  /// Opening calls it between parts of some thousand records: while it copies the records of a
  /// model into a new table, under ``SchemaChanges/migrate``, and while it fills the bound fields
  /// of a new binding. Small files have few calls, or none. A table without row numbers is copied
  /// in one part.
  ///
  /// The calls are inside the transaction, on the thread that opens the store; for asynchronous
  /// opening, on a thread of the store. Do not use the file there. If the closure throws, opening
  /// rolls back and throws that error, and the tables and records are as before.
  ///
  /// Values of this type are all equal, because closures cannot be compared.
  public struct SchemaProgress: Hashable, Sendable {
    let report: @Sendable (_ model: String, _ done: Int, _ all: Int) throws -> Void

    /// Creates it from a closure.
    ///
    /// - Parameter report: Receives the name of the model, the number of records that are done, and
    ///   the number of all.
    public init(
      _ report: @escaping @Sendable (_ model: String, _ done: Int, _ all: Int) throws -> Void
    ) {
      self.report = report
    }

    public static func == (first: Self, second: Self) -> Bool { true }

    public func hash(into hasher: inout Hasher) {}
  }
}
