import ModelStore

/// One import: records from an input into a model, in one transaction or in batches, in memory
/// bounded by the longest record.
struct Importing {
  /// How to go about it.
  struct Plan {
    var isUpsert: Bool
    var stopsAtError: Bool
    /// Records in one transaction; nil for all.
    var batchCount: Int?
    var isDryRun: Bool
  }

  private struct Tally {
    var written = 0
    var rejected = 0

    var read: Int { written + rejected }
  }

  /// Rolls a transaction back without anything having gone wrong.
  private enum Stop: Error {
    case dryRun
    case interrupted
  }

  private var input: RecordInput
  private let schema: ModelSchema
  private let store: Store
  private let rejects: RejectsFile?
  private let console: Console
  private let plan: Plan
  private var progress: Progress
  private var tally = Tally()
  private var committed = Tally()
  private var transactionCount = 0
  private var isAtEnd = false
  /// The first few reasons for rejection.
  private var reasons: [String] = []

  init(
    input: RecordInput, schema: ModelSchema, store: Store, rejects: RejectsFile?, console: Console,
    plan: Plan
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
    let countBefore = try recordCount()
    do {
      while !isAtEnd { try writeBatch() }
    } catch Stop.interrupted {
      try progress.clear()
      throw CommandError(.interrupted, code: "interrupted", "Interrupted; \(whatIsCommitted).")
    } catch {
      try progress.clear()
      var error = CommandError(error)
      error.details.append("  \(whatIsCommitted)")
      throw error
    }
    try progress.clear()
    try rejects?.close()
    try report(insertedCount: try recordCount() - countBefore)
    return tally.rejected > 0 ? .rejected : .ok
  }

  private func recordCount() throws -> Int {
    guard plan.isUpsert else { return 0 }
    return try store.read { reads in try reads.count(Query<Record>(schema)) }
  }

  private var whatIsCommitted: String {
    committed.written == 0
      ? "nothing was written"
      : "\(Grouped.text(committed.written, "record")) of \(Grouped.text(transactionCount, "earlier batch", "earlier batches")) "
        + "stay written"
  }

  private mutating func writeBatch() throws {
    tally = committed
    do {
      try store.write { transaction in
        try fill(transaction)
        if plan.isDryRun { throw Stop.dryRun }
      }
    } catch Stop.dryRun {
      // Rolled back, as it should be.
    }
    committed = tally
    transactionCount += 1
  }

  private mutating func fill(_ transaction: borrowing Transaction) throws {
    // A dry run is one transaction, or later batches would not see what earlier ones wrote.
    let countMax = plan.isDryRun ? Int.max : plan.batchCount ?? Int.max
    var count = 0
    while count < countMax {
      if Interruption.isRequested { throw Stop.interrupted }
      guard try writeNext(transaction) else {
        isAtEnd = true
        return
      }
      count += 1
      try progress.note(tally.read)
    }
  }

  /// Writes the next record, or rejects it; false at the end.
  private mutating func writeNext(_ transaction: borrowing Transaction) throws -> Bool {
    do {
      guard let values = try input.next() else { return false }
      if plan.isUpsert {
        try transaction.upsert(values, into: schema)
      } else {
        try transaction.insert(values, into: schema)
      }
      tally.written += 1
    } catch let error as InputError {
      if error.problem == .interrupted { throw Stop.interrupted }
      guard error.leavesRestReadable, !plan.stopsAtError else { throw error }
      try reject(error.description)
    } catch let error as StoreError where error.code == .rejected || error.code == .invalidValue {
      guard plan.stopsAtError else {
        return try rejectAndGoOn("line \(input.position.line): \(Self.reason(error))")
      }
      var refused = error
      refused.model = schema.name
      var stopped = CommandError(refused)
      stopped.details = ["  line \(input.position.line): \(Self.reason(error))"]
      stopped.message = "A record was refused."
      throw stopped
    }
    return true
  }

  private mutating func rejectAndGoOn(_ reason: String) throws -> Bool {
    try reject(reason)
    return true
  }

  private static func reason(_ error: StoreError) -> String {
    guard !error.violations.isEmpty else { return error.message }
    return error.violations
      .map { ($0.fields.isEmpty ? "" : $0.fields.joined(separator: ",") + " ") + $0.message }
      .joined(separator: "; ")
  }

  private mutating func reject(_ reason: String) throws {
    tally.rejected += 1
    if reasons.count < CommandError.violationCountMax { reasons.append(reason) }
    try rejects?.write(input.recordBytes)
  }

  private func report(insertedCount: Int) throws {
    var parts = ["\(Grouped.text(tally.read)) read"]
    if plan.isUpsert, !plan.isDryRun {
      parts.append("\(Grouped.text(insertedCount)) inserted")
      parts.append("\(Grouped.text(tally.written - insertedCount)) updated")
    } else {
      parts.append("\(Grouped.text(tally.written)) \(plan.isUpsert ? "written" : "inserted")")
    }
    parts.append("\(Grouped.text(tally.rejected)) rejected")
    parts.append(
      "in \(progress.elapsedText), \(Grouped.text(transactionCount, "transaction"))")
    try console.say(parts.joined(separator: "  "))
    for reason in reasons { try console.say("  \(reason)") }
    if tally.rejected > reasons.count {
      try console.say("  and \(Grouped.text(tally.rejected - reasons.count)) more")
    }
    if let rejects, tally.rejected > 0 { try console.say("rejects: \(rejects.path)") }
    if plan.isDryRun { try console.say("dry run: nothing was written") }
  }
}
