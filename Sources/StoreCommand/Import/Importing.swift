import ModelStore
import RecordFormats

/// One import: records from inputs into their models, in one transaction or in batches, in memory
/// bounded by the longest record, a megabyte of gathered records, or the batch. Where the file has
/// rules that only warn, the changes of a transaction are kept until its end, too.
///
/// No transaction is open while the input may keep its reader waiting: a batch is read before its
/// transaction begins, and what goes into one transaction comes from a file.
///
/// References are checked at the end of a transaction, because an export holds records in the order
/// of their keys, and a record may refer to one behind it. Where bad records are left out, those
/// that refer to nothing yet wait in memory for the end: ``WaitingRecords``.
struct Importing {
  /// The records of one model.
  struct Source {
    let input: RecordInput
    let schema: ModelSchema
  }

  /// The options of the import.
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

  /// Rolls back a transaction that did not fail.
  private enum Stop: Error {
    case dryRun
    case interrupted
  }

  /// The next record of the input, or why it cannot be imported.
  struct Item {
    var content: Result<InputRecord, any Error>
    /// The place of its source among all.
    var source: Int
    var line: Int
    /// The record as it is in the input, if rejects are collected.
    var bytes: [UInt8]
  }

  private let sources: [Source]
  private let store: Store
  private let rejects: RejectsFile?
  private let console: Console
  private let plan: Plan
  private var progress: Progress
  private var tally = ImportTally()
  private var committed = ImportTally()
  /// The rules that only warn and that the records of committed transactions break; those of the
  /// whole import for a dry run.
  var warned: WarnedRecords { committed.warned }
  private var transactionCount = 0
  /// The place of the source that is being read.
  private var current = 0
  /// The records that wait for the records they refer to.
  private var waiting = WaitingRecords()
  /// The records that are written next.
  private var gathered = GatheredRecords()
  /// How fields can take values that their declared types refuse, with the number of records that
  /// were refused for them.
  private var typeCommands: [String: Int] = [:]
  /// The computed fields that were compared.
  private var comparedNames: [String] = []

  private var isAtEnd: Bool { current == sources.count }

  init(
    sources: [Source], store: Store, rejects: RejectsFile?, console: Console, plan: Plan
  ) {
    self.sources = sources
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
    } catch  where isInterruption(error) {
      progress.clear()
      throw closingRejects(
        CommandError(.interrupted, code: "interrupted", "Interrupted; \(whatIsCommitted)."))
    } catch {
      progress.clear()
      let code = (error as? StoreError)?.code
      let isUnknown = code == .outcomeUnknown
      // Keep the rejects of this transaction: they are not in the store, committed or not.
      if isUnknown { committed.takeRejects(of: tally) }
      var error = CommandError(error)
      error.details.append(
        "  \(code == .fileReplaced ? whatIsLost : isUnknown ? whatMayBeCommitted : whatIsCommitted)"
      )
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

  private func isInterruption(_ error: any Error) -> Bool {
    if case Stop.interrupted = error { true } else { Interruption.explains(error) }
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

  /// Where the earlier batches are after the file was replaced.
  private var whatIsLost: String {
    committed.written == 0
      ? "nothing was written"
      : "\(Grouped.text(committed.written, "record")) of "
        + "\(Grouped.text(transactionCount, "earlier batch", "earlier batches")) "
        + "went to the earlier file, not to the present one"
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
    }
  }

  private mutating func inTransaction(
    _ body: (inout Importing, borrowing WriteTransaction) throws -> Void
  ) throws {
    tally = committed
    waiting = WaitingRecords()
    gathered = GatheredRecords()
    if try store.hasWarningRules(of: sources.map(\.schema)) {
      // Its changes are kept in memory until its end, to be compared with these rules.
      var warned = WarnedRecords()
      func reviewed(_ transaction: borrowing WriteTransaction) throws {
        try writeAll(body, transaction)
        transaction.reviewWarnings(listing: ImportTally.maxListedWarningCount) { warned = $0 }
      }
      if plan.isDryRun {
        _ = try store.preview(reviewed)
      } else {
        _ = try store.writeReturningChanges(reviewed)
      }
      tally.note(warned)
    } else {
      do {
        try store.write { transaction in
          try writeAll(body, transaction)
          if plan.isDryRun { throw Stop.dryRun }
        }
      } catch Stop.dryRun {
        // Rolled back, as it should be.
      }
    }
    committed = tally
    transactionCount += 1
    try rejects?.keep()
  }

  /// Writes all records of one transaction.
  private mutating func writeAll(
    _ body: (inout Importing, borrowing WriteTransaction) throws -> Void,
    _ transaction: borrowing WriteTransaction
  ) throws {
    // The transaction has begun, so no program can change a model until it ends.
    try store.checkUnchanged(sources.map(\.schema))
    if plan.stopsAtError { try transaction.deferReferenceChecks() }
    try body(&self, transaction)
    try writeGathered(transaction)
    try takeWaiting(transaction)
  }

  /// The records of the next transaction. An error that will stop the import is the last of them.
  private mutating func readBatch() throws -> [Item] {
    var items: [Item] = []
    while items.count < plan.batchCount ?? 0 {
      guard let item = try read() else { break }
      items.append(item)
      if case .failure(let error) = item.content, !isRejectable(error) { break }
    }
    return items
  }

  /// The next record of the input, valid or not; nil at the end.
  private mutating func read() throws -> Item? {
    if Interruption.isRequested { throw Stop.interrupted }
    while !isAtEnd {
      let input = sources[current].input
      let content: Result<InputRecord, any Error>
      do {
        guard let record = try input.next() else {
          current += 1
          continue
        }
        content = .success(record)
      } catch let error as InputError where error.problem == .interrupted {
        throw Stop.interrupted
      } catch {
        content = .failure(error)
      }
      return Item(
        content: content, source: current, line: input.line,
        bytes: rejects == nil ? [] : input.recordBytes)
    }
    return nil
  }

  /// Takes a record. It is written at once, or together with the records after it.
  private mutating func take(_ item: Item, _ transaction: borrowing WriteTransaction) throws {
    if Interruption.isRequested { throw Stop.interrupted }
    guard case .success(let record) = item.content, !plan.isUpsert, record.computed.isEmpty else {
      try writeGathered(transaction)
      return try takeAlone(item, transaction)
    }
    if !gathered.isAlike(record, of: item.source) { try writeGathered(transaction) }
    gathered.add(item, record)
    if gathered.isFull { try writeGathered(transaction) }
    progress.note(tally.read + waiting.count + gathered.items.count)
  }

  /// Writes the gathered records: with one statement, or one by one if it is refused.
  private mutating func writeGathered(_ transaction: borrowing WriteTransaction) throws {
    guard let source = gathered.items.first?.source else { return }
    let isWritten =
      try gathered.isFull
      && gathered.write(
        into: sources[source].schema, defersReferences: plan.stopsAtError, transaction)
    let items = gathered.removeAll()
    if isWritten {
      tally.inserted += items.count
    } else {
      for item in items { try takeAlone(item, transaction) }
    }
  }

  /// Writes a record, rejects it, or lets it wait.
  private mutating func takeAlone(_ item: Item, _ transaction: borrowing WriteTransaction) throws {
    if Interruption.isRequested { throw Stop.interrupted }
    do {
      if plan.isUpsert, waiting.count > 0 {
        // It may have the key of a waiting record, and the later record wins.
        waiting.add(item)
      } else {
        _ = try write(try item.content.get(), item.source, transaction)
      }
    } catch {
      if WaitingRecords.mayWait(error) {
        waiting.add(item)
      } else {
        try refuse(item, error)
      }
    }
    progress.note(tally.read + waiting.count)
  }

  /// Rejects a record, or stops the import.
  private mutating func refuse(_ item: Item, _ error: any Error) throws {
    if Interruption.explains(error) { throw Stop.interrupted }
    guard isRejectable(error) else {
      throw sources[item.source].input.refusal(error, line: item.line)
    }
    if let command = sources[item.source].input.typeCommand(for: error) {
      typeCommands[command, default: 0] += 1
    }
    let input = sources[item.source].input
    let place = sources.count > 1 ? "\(sources[item.source].schema.name) " : ""
    tally.reject(place + ImportTally.reason(error, at: input.place(item.line)))
    try rejects?.write(item.bytes)
  }

  /// Writes as many of the waiting records as possible, and rejects the others.
  private mutating func takeWaiting(_ transaction: borrowing WriteTransaction) throws {
    while waiting.count > 0 {
      let before = tally
      var waiting = waiting
      let refused = try waiting.write(in: transaction) { item, transaction in
        if Interruption.isRequested { throw Stop.interrupted }
        let insertedCount = tally.inserted
        let record = try write(try item.content.get(), item.source, transaction)
        return WaitingRecords.Written(record: record, isNew: tally.inserted > insertedCount)
      }
      self.waiting = waiting
      guard !refused.isEmpty else { return }
      tally = before
      for (item, error) in refused { try refuse(item, error) }
    }
    // COMMIT would refuse these references; the check here also serves a dry run.
    try transaction.checkReferences()
  }

  /// - Returns: The record as it is stored.
  private mutating func write(
    _ record: InputRecord, _ source: Int, _ transaction: borrowing WriteTransaction
  ) throws -> DynamicRecord {
    for value in record.computed where !comparedNames.contains(value.field.name) {
      comparedNames.append(value.field.name)
    }
    guard !record.computed.isEmpty else {
      return try write(record.values, sources[source].schema, transaction)
    }
    let before = tally
    do {
      return try transaction.savepoint { transaction in
        let stored = try write(record.values, sources[source].schema, transaction)
        try record.checkComputed(stored)
        return stored
      }
    } catch {
      tally = before
      throw error
    }
  }

  private mutating func write(
    _ values: [String: SQLValue], _ schema: ModelSchema, _ transaction: borrowing WriteTransaction
  ) throws -> DynamicRecord {
    guard plan.isUpsert else {
      let record = try transaction.insert(values, into: schema)
      tally.inserted += 1
      return record
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
    return after
  }

  /// Whether the import can continue without the record.
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
    // One wrong value is no reason to change the type of a field.
    for (command, count) in typeCommands.sorted(by: { $0.key < $1.key })
    where count * 2 > tally.read {
      try console.say("hint: \(Program.name) \(command)")
    }
    if !comparedNames.isEmpty {
      try console.say(
        "computed by the database, so compared and not written: "
          + comparedNames.joined(separator: ", "))
    }
    if let rejects, tally.rejected > 0 { try console.say("rejects: \(rejects.path)") }
    if plan.isDryRun { try console.say("dry run: nothing was written") }
  }
}
