import ModelStore

/// One import: records from an input into a model, in one transaction or in batches, in memory
/// bounded by the longest record or the batch.
///
/// No transaction is open while the input may keep its reader waiting: a batch is read before its
/// transaction begins, and what goes into one transaction comes from a file.
struct Importing {
  /// How to go about it.
  struct Plan {
    var isUpsert: Bool
    var stopsAtError: Bool
    /// Records in one transaction; nil for all.
    var batchCount: Int?
    var isDryRun: Bool

    /// Whether everything goes into one transaction. A dry run always does, or later batches would
    /// not see what earlier ones wrote.
    var isOneTransaction: Bool { batchCount == nil || isDryRun }
  }

  /// Rolls a transaction back without anything having gone wrong.
  private enum Stop: Error {
    case dryRun
    case interrupted
  }

  /// The next record of the input, or why it is none.
  private struct Item {
    var content: Result<[String: SQLValue], any Error>
    var line: Int
    /// As it stands in the input, where rejects are collected.
    var bytes: [UInt8]
  }

  private let input: RecordInput
  private let schema: ModelSchema
  private let store: Store
  private let rejects: RejectsFile?
  private let console: Console
  private let plan: Plan
  private var progress: Progress
  private var tally = ImportTally()
  private var committed = ImportTally()
  private var transactionCount = 0
  private var isAtEnd = false

  init(
    input: RecordInput, schema: ModelSchema, store: Store, rejects: RejectsFile?,
    console: Console, plan: Plan
  ) {
    self.input = input
    self.schema = schema
    self.store = store
    self.rejects = rejects
    self.console = console
    self.plan = plan
    progress = Progress(console: console)
  }

  /// Runs to the end of the input, to the first error that stops it, or to Ctrl-C.
  mutating func run() throws -> ExitCode {
    do {
      while !isAtEnd { try writeBatch() }
    } catch Stop.interrupted {
      progress.clear()
      throw closingRejects(
        CommandError(.interrupted, code: "interrupted", "Interrupted; \(whatIsCommitted)."))
    } catch {
      progress.clear()
      let isUnknown = (error as? StoreError)?.code == .outcomeUnknown
      // Its rejects are kept with it: whichever way it went, they are not in the store.
      if isUnknown { committed.takeRejects(of: tally) }
      var error = CommandError(error)
      error.details.append("  \(isUnknown ? whatMayBeCommitted : whatIsCommitted)")
      throw closingRejects(error, keepingAll: isUnknown)
    }
    progress.clear()
    do {
      try rejects?.close()
    } catch {
      var error = CommandError(error)
      error.details.append("  \(whatIsCommitted); only the file of rejects failed")
      throw error
    }
    try report()
    return tally.rejected > 0 ? .rejected : .ok
  }

  /// `error`, and where the rejects of the batches before it are.
  private func closingRejects(
    _ error: CommandError, keepingAll keepsAll: Bool = false
  ) -> CommandError {
    guard let rejects, committed.rejected > 0 else { return error }
    var error = error
    do {
      if !keepsAll { try rejects.forgetUnkept() }
      try rejects.close()
      error.details.append("  \(Grouped.text(committed.rejected)) rejected: \(rejects.path)")
    } catch let failure {
      error.details.append("  the file of rejects failed: \(CommandError(failure).message)")
    }
    return error
  }

  private var whatIsCommitted: String {
    committed.written == 0
      ? "nothing was written"
      : "\(Grouped.text(committed.written, "record")) of "
        + "\(Grouped.text(transactionCount, "earlier batch", "earlier batches")) stay written"
  }

  private var whatMayBeCommitted: String {
    let last = "whether the last transaction was written is unknown"
    return committed.written == 0 ? last : "\(last); \(whatIsCommitted)"
  }

  private mutating func writeBatch() throws {
    guard plan.isOneTransaction else {
      let items = try readBatch()
      guard !items.isEmpty else { return }
      return try inTransaction { importing, transaction in
        for item in items { try importing.take(item, transaction) }
      }
    }
    try inTransaction { importing, transaction in
      while let item = try importing.read() { try importing.take(item, transaction) }
      importing.isAtEnd = true
    }
  }

  private mutating func inTransaction(
    _ body: (inout Importing, borrowing Transaction) throws -> Void
  ) throws {
    tally = committed
    do {
      try store.write { transaction in
        try body(&self, transaction)
        if plan.isDryRun { throw Stop.dryRun }
      }
    } catch Stop.dryRun {
      // Rolled back, as it should be.
    }
    committed = tally
    transactionCount += 1
    try rejects?.keep()
  }

  /// The records of the next transaction. An error that will stop the import is the last of them.
  private mutating func readBatch() throws -> [Item] {
    var items: [Item] = []
    while items.count < plan.batchCount ?? 0 {
      guard let item = try read() else {
        isAtEnd = true
        break
      }
      items.append(item)
      if case .failure(let error) = item.content, !isRejectable(error) { break }
    }
    return items
  }

  /// The next record of the input, fit or not; nil at the end.
  private func read() throws -> Item? {
    if Interruption.isRequested { throw Stop.interrupted }
    let content: Result<[String: SQLValue], any Error>
    do {
      guard let values = try input.next() else { return nil }
      content = .success(values)
    } catch let error as InputError where error.problem == .interrupted {
      throw Stop.interrupted
    } catch {
      content = .failure(error)
    }
    return Item(
      content: content, line: input.position.line, bytes: rejects == nil ? [] : input.recordBytes)
  }

  /// Writes a record, or rejects it.
  private mutating func take(_ item: Item, _ transaction: borrowing Transaction) throws {
    if Interruption.isRequested { throw Stop.interrupted }
    do {
      try write(try item.content.get(), transaction)
    } catch {
      guard isRejectable(error) else { throw input.refusal(error, line: item.line) }
      tally.reject(ImportTally.reason(error, line: item.line))
      try rejects?.write(item.bytes)
    }
    progress.note(tally.read)
  }

  private mutating func write(
    _ values: [String: SQLValue], _ transaction: borrowing Transaction
  ) throws {
    guard plan.isUpsert else {
      try transaction.insert(values, into: schema)
      tally.inserted += 1
      return
    }
    let key = schema.key.compactMap { values[$0] }
    let before =
      key.count == schema.key.count
      ? try OpenedStore.reading { try transaction.find(schema, key: key) } : nil
    let after = try transaction.upsert(values, into: schema)
    switch before {
    case nil: tally.inserted += 1
    case after: tally.unchanged += 1
    default: tally.updated += 1
    }
  }

  /// Whether the record can be left out and the import go on.
  private func isRejectable(_ error: any Error) -> Bool {
    guard !plan.stopsAtError else { return false }
    return switch error {
    case let error as InputError: error.leavesRestReadable
    case let error as StoreError: RecordInput.refusals.contains(error.code)
    default: false
    }
  }

  private func report() throws {
    try console.say(
      tally.summary(isUpsert: plan.isUpsert)
        + "  in \(progress.elapsedText), \(Grouped.text(transactionCount, "transaction"))")
    for line in tally.reasonLines { try console.say(line) }
    if let rejects, tally.rejected > 0 { try console.say("rejects: \(rejects.path)") }
    if plan.isDryRun { try console.say("dry run: nothing was written") }
  }
}
