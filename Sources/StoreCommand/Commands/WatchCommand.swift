import ArgumentParser
import ModelStore

/// `watch`: what every program changes, as it happens.
struct WatchCommand: LeafCommand {
  static let configuration = CommandConfiguration(
    commandName: "watch", abstract: "Follow the changes of every program as they happen.",
    discussion: """
      Examples: storecli watch Track
      storecli watch Track 'plays > 10' --sort -plays
      storecli watch --since 10m --count 5 --timeout 30s
      With a journal, each change tells who made it; see storecli journal. Without one, and with a \
      predicate or an order, a query is followed: what enters, changes in and leaves its result. \
      Ends with 130 at Ctrl-C, with 1 when the time is over before --count was reached.
      """)

  @Argument(help: "The model; all of them when none is named.")
  var model: String?

  @Argument(help: "Which records; see storecli help predicates.")
  var predicate: String?

  @Option(
    parsing: .unconditional,
    help: ArgumentHelp("Follow the result in this order, with indices.", valueName: "a,-b"))
  var sort: String?

  @Option(
    parsing: .unconditional,
    help: ArgumentHelp(
      "Begin in the past: a position, a span such as 10m or a date.", valueName: "when"))
  var since: JournalPlace?

  @Flag(help: "Begin with the records that are there.")
  var snapshot = false

  @Option(
    help: ArgumentHelp(
      "Go on where the consumer of this name ended; it is made when there is none.",
      valueName: "name"))
  var slot: String?

  @Option(help: ArgumentHelp("End after so many changes.", valueName: "count"))
  var count: Int?

  @Option(help: ArgumentHelp("End after this time, such as 30s.", valueName: "span"))
  var timeout: String?

  @OptionGroup var options: GlobalOptions

  var takesFields: Bool { false }

  func validate() throws {
    guard count ?? 1 >= 1 else { throw ValidationError("--count takes 1 or more.") }
    guard timeout.map({ TimeText.span($0) != nil }) ?? true else {
      throw ValidationError("--timeout takes a number with s, m, h, d or w, such as 30s.")
    }
    guard !snapshot || since == nil && slot == nil else {
      throw ValidationError("--snapshot begins now; --since and --slot do not.")
    }
    guard predicate == nil && sort == nil || since == nil && slot == nil else {
      throw ValidationError("A predicate or an order is followed from now on only.")
    }
    guard sort == nil || model != nil else { throw ValidationError("--sort needs a model.") }
  }

  func run(_ context: CommandContext) throws -> ExitCode {
    var output = try WatchOutput(context, countMax: count)
    let deadline = timeout.flatMap(TimeText.span).map {
      ContinuousClock.now + Duration.microseconds($0)
    }
    Interruption.await()
    let opened = try context.openForReading()
    let schema = try model.map { try opened.model(named: $0) }
    let details = try opened.store.changeJournal.details()
    let isLogged = model.map { details[$0] != nil } ?? !details.isEmpty
    let waking: Bell.Waking?
    if predicate == nil && sort == nil && isLogged {
      waking = try followJournal(opened, schema, details, deadline, &output, context)
    } else {
      guard since == nil, slot == nil else {
        throw CommandError(
          .failed, code: StoreError.Code.journalGap.rawValue,
          "The journal does not enter \(model ?? "anything"), so there is no past to begin with.",
          hint: "storecli journal on" + (model.map { " \(Shell.quoted($0))" } ?? ""))
      }
      waking = try followResults(opened, schema, deadline, &output, context)
    }
    switch waking {
    case nil: return .ok
    case .interrupted:
      try context.console.say("stopped after \(Grouped.text(output.count, "change"))")
      return .interrupted
    case .timedOut, .rung: return count == nil ? .ok : .failed
    }
  }

  private func followJournal(
    _ opened: OpenedStore, _ schema: ModelSchema?, _ details: [String: JournalDetail],
    _ deadline: ContinuousClock.Instant?, _ output: inout WatchOutput, _ context: CommandContext
  ) throws -> Bell.Waking? {
    let missing = opened.store.schema.models.map(\.name).filter { details[$0] == nil }
    if model == nil, !missing.isEmpty {
      try context.console.say("not in the journal: \(missing.joined(separator: ", "))")
    }
    let journal = opened.store.changeJournal
    let end = try journal.position()
    let start = try since?.position(in: journal) ?? end
    guard start <= end else {
      throw CommandError.usage("The journal ends at \(end), so nothing follows \(start) yet.")
    }
    guard let slot else {
      if snapshot {
        try output.write(try stored(in: opened.store, schema, details, at: start))
      }
      try sayStart("seq \(start)", context)
      let watch = JournalWatch(
        store: opened.store, model: model, bell: Bell(), deadline: deadline, context: context)
      return try watch.follow(after: start, to: &output)
    }
    opened.store.close()
    let store = try context.openForWriting().store
    let consumer = try store.consumer(slot, startingAt: .position(start))
    try sayStart("seq \(try consumer.status().position), slot \(slot)", context)
    let watch = JournalWatch(
      store: store, model: model, bell: Bell(), deadline: deadline, context: context)
    return try watch.follow(consumer, to: &output)
  }

  /// The records at the position from which the journal is followed, so that nothing is missing or
  /// told twice.
  private func stored(
    in store: Store, _ schema: ModelSchema?, _ details: [String: JournalDetail],
    at position: JournalPosition
  ) throws -> [WatchedChange] {
    let models = schema.map { [$0] } ?? store.schema.models.filter { details[$0.name] != nil }
    let now = TimeText.now
    return try models.flatMap { model in
      try store.fetch(Query<Record>(model), at: position).map { record in
        let fields = zip(model.fields, record.values).map {
          ChangeLine.Field(name: $0.name, old: nil, new: $1)
        }
        return WatchedChange(
          change: ChangeLine(
            operation: .insert, model: model.name, key: record.key, fields: fields, origin: .user,
            schema: model),
          isSnapshot: true, time: now)
      }
    }
  }

  private func followResults(
    _ opened: OpenedStore, _ schema: ModelSchema?, _ deadline: ContinuousClock.Instant?,
    _ output: inout WatchOutput, _ context: CommandContext
  ) throws -> Bell.Waking? {
    let models = schema.map { [$0] } ?? opened.store.schema.models.filter { !$0.key.isEmpty }
    let queries = try models.map {
      try PredicateText(schema: $0).query(where: predicate, sort: sort)
    }
    return try LiveWatch(Bell()).follow(
      queries, of: opened.store, snapshot: snapshot,
      tellsPlaces: predicate != nil || sort != nil, until: deadline, to: &output
    ) {
      try sayStart("now", context)
    }
  }

  private func sayStart(_ start: String, _ context: CommandContext) throws {
    try context.console.say("watching \(model ?? "all models") from \(start) (Ctrl-C to stop)")
  }
}
