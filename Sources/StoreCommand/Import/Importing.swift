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
    let writing: RecordWriting
    /// Which records of the input are meant; nil for all.
    var selection: InputSelection?

    var schema: ModelSchema { writing.identity.schema }
  }

  /// The options of the import.
  struct Plan {
    var mode = ImportMode.insert
    var stopsAtError: Bool
    /// Records in one transaction; nil for all.
    var batchCount: Int?
    var isDryRun: Bool
    /// The most bytes of a value or a record.
    var byteCountMax = ValueLimit.usual
    /// Whether reading the input may block, as for a pipe. A batch is then read before its
    /// transaction begins.
    var mayWait = false
    /// Runs at the end of the only transaction, before COMMIT.
    var completion: ((borrowing WriteTransaction) throws -> Void)?

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
  /// Whether a condition leaves records out.
  private let selects: Bool
  private let store: Store
  private let rejects: RejectsFile?
  private let console: Console
  private var plan: Plan
  private var progress: Progress
  /// How far the input was read, if the import can be continued.
  private var checkpoint: ImportCheckpoint?
  /// What `--replace` deletes at the end.
  private var mirroring: Mirroring?
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

  /// Whether a transaction was committed.
  var hasCommitted: Bool { transactionCount > 0 && !plan.isDryRun }

  private var isAtEnd: Bool { current == sources.count }

  init(
    sources: [Source], store: Store, rejects: RejectsFile?, console: Console, plan: Plan
  ) {
    self.sources = sources
    selects = sources.contains { $0.selection != nil }
    self.store = store
    self.rejects = rejects
    self.console = console
    self.plan = plan
    progress = Progress(console: console)
  }

  /// Finds out what the import would do, and writes nothing.
  mutating func rehearse() throws -> ImportTally {
    plan.isDryRun = true
    defer { progress.clear() }
    do {
      while !isAtEnd { try writeBatch() }
    } catch  where isInterruption(error) {
      throw CommandError(.interrupted, code: "interrupted", "Interrupted; nothing was written.")
    }
    return committed
  }

  /// Runs to the end of the input, to the first error that stops it, or to Ctrl-C.
  ///
  /// - Parameter resumed: The import to continue; nil to begin.
  mutating func run(resuming resumed: ImportProgress? = nil) throws -> ExitCode {
    do {
      try begin(resuming: resumed)
      while !isAtEnd { try writeBatch() }
      if let token = checkpoint?.token {
        try store.write { transaction in try transaction.endImport(token) }
      }
    } catch  where isInterruption(error) {
      progress.clear()
      throw closingRejects(
        CommandError(
          .interrupted, code: "interrupted", "Interrupted; \(whatIsCommitted).", hint: resumption))
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
      if code != .fileReplaced, let resumption { error.details.append("  \(resumption)") }
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

  /// How to continue after the last batch; nil if there is none.
  private var resumption: String? {
    checkpoint.flatMap {
      $0.filedCount == nil ? nil : "to go on, repeat the command with \($0.option)"
    }
  }

  /// Prepares to commit in batches.
  private mutating func begin(resuming resumed: ImportProgress?) throws {
    guard !plan.isOneTransaction else { return }
    try store.prepareImportProgress()
    if let resumed { try rejects?.resume(after: resumed.rejectsByteCount) }
    var checkpoint = ImportCheckpoint(of: sources.map(\.schema.name), resuming: resumed)
    if let resumed {
      while checkpoint.recordCount < resumed.recordCount, !isAtEnd {
        if Interruption.isRequested { throw Stop.interrupted }
        let input = sources[current].input
        guard try input.skip() else {
          current += 1
          continue
        }
        checkpoint.note(input.recordBytes, of: current)
        progress.note(checkpoint.recordCount)
      }
      try checkpoint.check(against: resumed)
      try console.say("\(Grouped.text(checkpoint.recordCount, "record")) were imported before")
    } else {
      try console.say("to continue this import if it is interrupted: \(checkpoint.option)")
    }
    self.checkpoint = checkpoint
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
    guard !plan.isOneTransaction else {
      return try inTransaction { importing, transaction in
        while let item = try importing.read() { try importing.take(item, transaction) }
      }
    }
    // What is in memory is bounded by the batch where the input may block, else by a record.
    let first = try plan.mayWait ? readBatch() : [read()].compactMap(\.self)
    guard !first.isEmpty else { return }
    try inTransaction { importing, transaction in
      for item in first { try importing.take(item, transaction) }
      var count = first.count
      while !importing.plan.mayWait, count < importing.plan.batchCount ?? 0,
        let item = try importing.read()
      {
        try importing.take(item, transaction)
        count += 1
      }
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
    checkpoint?.noteCommit()
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
    if plan.mode == .replace {
      mirroring = try Mirroring(
        of: sources.map(\.schema), among: store.schema.models, transaction)
    }
    try body(&self, transaction)
    try writeGathered(transaction)
    try takeWaiting(transaction)
    if let mirroring {
      tally.deletions = try mirroring.deleteOthers(transaction)
      try transaction.checkReferences()
    }
    try plan.completion?(transaction)
    if let checkpoint {
      let rejectsByteCount = try rejects?.publish() ?? 0
      try transaction.record(
        checkpoint.progress(rejectsByteCount: rejectsByteCount), after: checkpoint.filedCount)
    }
  }

  /// A batch that is read before its transaction ends after that many bytes, so that memory is
  /// bounded whatever the records hold.
  private static let batchByteCountMax = 64 << 20

  /// The records of the next transaction. An error that will stop the import is the last of them.
  private mutating func readBatch() throws -> [Item] {
    var items: [Item] = []
    let byteCount = checkpoint?.byteCount ?? 0
    while items.count < plan.batchCount ?? 0,
      (checkpoint?.byteCount ?? 0) - byteCount < Self.batchByteCountMax
    {
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
      if checkpoint != nil { checkpoint?.note(input.recordBytes, of: current) }
      return Item(
        content: content, source: current, line: input.line,
        bytes: try rejects == nil ? [] : input.unmarkedRecordBytes)
    }
    return nil
  }

  /// Takes a record. It is written at once, or together with the records after it.
  private mutating func take(_ item: Item, _ transaction: borrowing WriteTransaction) throws {
    if Interruption.isRequested { throw Stop.interrupted }
    if selects, case .success(let record) = item.content,
      try sources[item.source].selection?.takes(record) == false
    {
      tally.skipped += 1
      return
    }
    guard case .success(let record) = item.content, !plan.mode.looksUp, record.computed.isEmpty
    else {
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
      if plan.mode.looksUp, waiting.count > 0 {
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

  /// The error for a record that is too large, with the field if one value is: SQLite names none.
  private func namingOversized(_ error: any Error, _ item: Item) -> any Error {
    guard var named = error as? StoreError, named.isOversized, named.field == nil,
      case .success(let record) = item.content,
      let largest = zip(record.fields.names, record.row).max(by: { $0.1.byteCount < $1.1.byteCount }
      )
    else { return error }
    let isOneValue = largest.1.byteCount > plan.byteCountMax
    named.sqliteCode = nil
    guard isOneValue else {
      named.message = "the record is larger than \(ValueLimit.environmentName) allows"
      return named
    }
    named.field = largest.0
    named.message =
      "\(largest.0) has \(Grouped.text(largest.1.byteCount, "byte")), more than "
      + "\(ValueLimit.environmentName) allows"
    return named
  }

  /// Rejects a record, or stops the import.
  private mutating func refuse(_ item: Item, _ error: any Error) throws {
    if Interruption.explains(error) { throw Stop.interrupted }
    let error = namingOversized(error, item)
    guard isRejectable(error) else {
      throw sources[item.source].input.refusal(error, line: item.line)
    }
    if let command = sources[item.source].input.typeCommand(for: error) {
      typeCommands[command, default: 0] += 1
    }
    let input = sources[item.source].input
    let place = sources.count > 1 ? "\(sources[item.source].schema.name) " : ""
    tally.reject(place + ImportTally.reason(error, at: input.place(item.line)))
    if let rejects {
      let mark = RejectMark(line: item.line, reason: ImportTally.reason(error))
      try rejects.write(try input.marked(item.bytes, mark))
    }
  }

  /// Writes as many of the waiting records as possible, and rejects the others.
  private mutating func takeWaiting(_ transaction: borrowing WriteTransaction) throws {
    while waiting.count > 0 {
      let before = tally
      var waiting = waiting
      let refused = try waiting.write(in: transaction) { item, transaction in
        if Interruption.isRequested { throw Stop.interrupted }
        let outcome = try write(try item.content.get(), item.source, transaction)
        guard let record = outcome.record else { return nil }
        if case .inserted = outcome {
          return WaitingRecords.Written(record: record, isNew: true)
        }
        return WaitingRecords.Written(record: record, isNew: false)
      }
      self.waiting = waiting
      guard !refused.isEmpty else { return }
      tally = before
      for (item, error) in refused { try refuse(item, error) }
    }
    // COMMIT would refuse these references; the check here also serves a dry run.
    try transaction.checkReferences()
  }

  private mutating func write(
    _ record: InputRecord, _ source: Int, _ transaction: borrowing WriteTransaction
  ) throws -> RecordWriting.Outcome {
    for value in record.computed where !comparedNames.contains(value.field.name) {
      comparedNames.append(value.field.name)
    }
    let writing = sources[source].writing
    let outcome: RecordWriting.Outcome
    if record.computed.isEmpty {
      outcome = try writing.write(record.values, transaction)
    } else {
      outcome = try transaction.savepoint { transaction in
        let outcome = try writing.write(record.values, transaction)
        if let stored = outcome.record { try record.checkComputed(stored) }
        return outcome
      }
    }
    tally.note(outcome)
    if let mirroring, let stored = outcome.record { try mirroring.keep(stored, transaction) }
    return outcome
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
      tally.summary(of: plan.mode, selects: selects)
        + "  in \(progress.elapsedText), \(Grouped.text(transactionCount, "transaction"))")
    for line in tally.cascadeLines + tally.reasonLines { try console.say(line) }
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

extension SQLValue {
  /// The bytes of a text or blob; 0 for other values.
  fileprivate var byteCount: Int {
    switch self {
    case .text(let text): text.utf8.count
    case .blob(let bytes): bytes.count
    case .null, .integer, .real: 0
    }
  }
}
