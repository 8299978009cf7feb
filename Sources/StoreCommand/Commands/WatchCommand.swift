import ArgumentParser
import ModelStore
import RecordFormats

/// `watch`: what every program changes, as it happens.
struct WatchCommand: LeafCommand {
  static let configuration = CommandConfiguration(
    commandName: "watch", abstract: "Follow the changes of every program as they happen.",
    discussion: """
      Examples: storecli watch Track
      storecli watch Track --where 'plays > 10' --since 10m
      storecli watch Track --sort -plays,-id --limit 10 --coalesce
      storecli watch Job --where "state == 'new'" --consumer worker --exec ./work
      With the change journal on, each change names the program that made it; see storecli journal. \
      A predicate is compared with each record before and after a change. A record that begins to \
      meet it is an insert with entered true; a record that stops meeting it is a delete with left \
      true. With --sort, or without a journal, watch follows the result of the query and prints \
      indices in it. Lines with the same step arrived together: their indices are those before and \
      after the whole step. Without a journal, a change that another program makes to a record that \
      stays in the result is a gap.
      --limit and --offset follow a window on the result, and index its rows from 0. A record that \
      slides over an edge, because others came or went, is an insert or a delete with slid true. \
      With an index on the fields of --sort, watch reads and keeps only the window, whatever the size \
      of the table. That takes required fields, at most 4,096 records, and one direction for all \
      fields. The key comes last and ascends, so write it where the others descend: --sort -plays,-id. \
      Otherwise watch says that it reads all records first.
      --exec runs a shell command for each change and passes it one line of JSON on standard input. \
      Status 0 means that the change is processed. After another status, watch --consumer ends with \
      1 and passes the change again next time; without --consumer it continues, and exits with 1 \
      when it ends.
      --consumer stores your position in the file, so that the next run continues there. A consumer \
      has one position for all models: changes that a run filters out are skipped for good. \
      It receives whole transactions, so it may print more changes than --count. --since sets where \
      a new consumer begins.
      --coalesce prints one net change per record for each batch; --exec then runs once for each \
      batch. On a terminal it shows the records of one model as a table that stays up to date.
      Where changes may be missing, watch prints a line with op gap, also with -q: position and side \
      say where, models says which models, message says why. --exec runs for it too, with \
      STORECLI_GAP set. With --fail-on-gap, watch ends with 2 there and does not move the consumer \
      past the gap.
      Ctrl-C ends watch with 130 and SIGTERM with 143, after the current change is written. It ends \
      with 1 when the time is over before --count changes arrived, and about a second after the file \
      is replaced, renamed or removed.
      """)

  @Argument(help: "The model; all of them when none is named.", completion: Completion.model)
  var model: String?

  @OptionGroup var predicate: PredicateArguments

  @Option(
    name: .customLong("model"), help: ArgumentHelp("Also this model.", valueName: "model"),
    completion: Completion.model)
  var otherModels: [String] = []

  @Option(
    parsing: .unconditional,
    help: ArgumentHelp("Follow the result in this order, with indices.", valueName: "a,-b"),
    completion: Completion.order)
  var sort: String?

  @Option(
    parsing: .unconditional,
    help: ArgumentHelp("Follow only this number of records of the result.", valueName: "n"))
  var limit: Int?

  @Option(
    parsing: .unconditional,
    help: ArgumentHelp("Records of the result to skip first.", valueName: "n"))
  var offset: Int = 0

  @Option(
    parsing: .unconditional,
    help: ArgumentHelp(
      "Begin after this position, span such as 10m, or date.", valueName: "position"),
    transform: JournalPlace.reading("--since"))
  var since: JournalPlace?

  @Flag(help: "Print the present records first.")
  var snapshot = false

  @Option(
    help: ArgumentHelp(
      "Continue where the consumer of this name ended; creates it if it is new.",
      valueName: "name"))
  var consumer: String?

  @Flag(help: "Print one net change per record for each batch; on a terminal, a table.")
  var coalesce = false

  @Option(
    help: ArgumentHelp("Run this shell command for each change.", valueName: "command"))
  var exec: String?

  @Option(
    parsing: .unconditional,
    help: ArgumentHelp("End after this number of changes.", valueName: "count"))
  var count: Int?

  @Option(
    help: ArgumentHelp(
      "End after this time, such as 30s; 0s prints what has happened so far.",
      valueName: "span"))
  var timeout: String?

  @Flag(help: "End with 2 at the first gap, where changes may be missing.")
  var failOnGap = false

  @OptionGroup(title: "Common options") var options: GlobalOptions

  private var modelNames: [String] { (model.map { [$0] } ?? []) + otherModels }

  func validate() throws {
    guard count ?? 1 >= 1 else { throw ValidationError("--count takes 1 or more.") }
    guard timeout.map({ TimeText.span($0) != nil }) ?? true else {
      throw ValidationError("--timeout takes a number with s, m, h, d or w, such as 30s.")
    }
    guard !snapshot || since == nil && consumer == nil else {
      throw ValidationError("--snapshot starts now; leave out --since and --consumer.")
    }
    guard sort == nil && !isWindow || since == nil && consumer == nil else {
      throw ValidationError(
        "\(resultOption) follows changes from now on; leave out --since and --consumer.")
    }
    guard limit ?? 1 >= 1, offset >= 0 else {
      throw ValidationError("--limit takes 1 or more, and --offset 0 or more.")
    }
    guard exec.map({ !$0.isEmpty }) ?? true, consumer.map({ !$0.isEmpty }) ?? true else {
      throw ValidationError("--exec takes a command and --consumer a name.")
    }
    guard
      predicate.text == nil && sort == nil && !isWindow && options.fields == nil
        || modelNames.count == 1
    else {
      throw ValidationError("A predicate, --sort, --limit, --offset and --fields need one model.")
    }
  }

  private var isWindow: Bool { limit != nil || offset > 0 }

  /// The option because of which a result is followed.
  private var resultOption: String {
    sort != nil ? "--sort" : limit != nil ? "--limit" : "--offset"
  }

  /// What is followed of a model.
  private func query(of model: ModelSchema) throws -> StoreQuery<DynamicRecord> {
    var query = try PredicateText(schema: model).query(where: predicate.text, sort: sort)
    (query.limit, query.offset) = (limit, offset)
    return query
  }

  func run(_ context: CommandContext) throws -> ExitCode {
    let ending = try isTable(context) ? showTable(context) : writeChanges(context)
    if ending.hasFailedOnGap { return .found }
    switch ending.waking {
    case nil: return ending.failureCount == 0 ? .ok : .failed
    case .interrupted:
      try context.console.say("stopped after \(Grouped.text(ending.changeCount, "change"))")
      return .interrupted
    case .timedOut, .rung: return count == nil && ending.failureCount == 0 ? .ok : .failed
    }
  }

  /// Why watching ended, nil after `--count` changes, and what it printed.
  private struct Ending {
    let waking: Bell.Waking?
    let changeCount: Int
    /// Commands that failed.
    var failureCount = 0
    var hasFailedOnGap = false
  }

  /// Shows the records of the only model as a table.
  private func showTable(_ context: CommandContext) throws -> Ending {
    let watching = try watching(context)
    let model = watching.models[0]
    let table = LiveTable(
      of: watching.opened.store, watching.bell,
      columns: try FieldColumns(of: model, names: options.fieldNames))
    let ending = try table.follow(
      try query(of: model), countMax: count ?? .max, until: watching.deadline, on: context.console)
    return Ending(waking: ending.waking, changeCount: ending.changeCount)
  }

  /// Writes each change when it happens.
  private func writeChanges(_ context: CommandContext) throws -> Ending {
    let handler = exec.map {
      WatchOutput.Handler(
        command: EventCommand(text: $0), takesAll: coalesce, isOwed: consumer != nil)
    }
    var output = try WatchOutput(
      context, countMax: count, splitsParts: consumer == nil, handler: handler,
      gapPolicy: failOnGap ? .end : .goOn)
    let waking = try follow(try watching(context), to: &output)
    return Ending(
      waking: waking, changeCount: output.count, failureCount: output.failureCount,
      hasFailedOnGap: output.hasFailedOnGap)
  }

  private func watching(_ context: CommandContext) throws -> Watching {
    Interruption.await()
    let bell = try Bell()
    // A consumer is stored in the file, so the file is opened for writing later, with what an
    // application declares. What is read until then must have the same models.
    let opened =
      try consumer == nil
      ? context.openForReading(onReplacement: bell.fail) : context.openToLook(at: modelNames)
    return Watching(
      opened: opened, models: try modelNames.map { try opened.model(named: $0) }, bell: bell,
      deadline: timeout.flatMap(TimeText.span).map {
        ContinuousClock.now + Duration.microseconds($0)
      }, context: context)
  }

  /// What to watch, and until when.
  private struct Watching {
    let opened: OpenedStore
    /// Empty for all models.
    let models: [ModelSchema]
    let bell: Bell
    let deadline: ContinuousClock.Instant?
    let context: CommandContext

    var names: String {
      models.isEmpty ? "all models" : models.map(\.name).joined(separator: ", ")
    }

    func sayStart(_ start: String) throws {
      if !opened.store.usesWriteAheadLog {
        try context.console.say(
          "the file has a rollback journal: changes of other programs are seen up to a second late")
      }
      try context.console.say("watching \(names) from \(start) (Ctrl-C to stop)")
    }
  }

  private func follow(
    _ watching: Watching, to output: inout WatchOutput
  ) throws -> Bell.Waking? {
    let store = watching.opened.store
    for model in watching.models { _ = try FieldColumns(of: model, names: options.fieldNames) }
    let queries = try watching.models.map(query)
    let details = try store.changeJournal.details()
    let filter = queries.first.flatMap { query in
      query.condition.flatMap { WatchFilter($0, schema: query.schema) }
    }
    if let reason = reasonAgainstJournal(watching, details, hasFilter: filter != nil) {
      guard since == nil, consumer == nil else {
        throw CommandError(
          .failed, code: StoreError.Code.journalGap.rawValue,
          "\(reason), so watch cannot begin in the past.",
          hint: "storecli journal on"
            + watching.models.map { " \(Shell.quoted($0.name))" }.joined())
      }
      return try followResults(queries, watching, &output)
    }
    let missing = store.schema.models.filter { $0.kind == .table && details[$0.name] == nil }
      .map(\.name)
    if watching.models.isEmpty, !missing.isEmpty {
      try watching.context.console.say("not in the journal: \(missing.joined(separator: ", "))")
    }
    let selection = WatchSelection(
      models: watching.models.isEmpty ? nil : watching.models, filter: filter,
      fields: options.fieldNames, isCoalescing: coalesce)
    return try followJournal(selection, queries, watching, details, &output)
  }

  /// Whether the result is shown as a table.
  private func isTable(_ context: CommandContext) -> Bool {
    coalesce && exec == nil && !failOnGap && consumer == nil && since == nil
      && modelNames.count == 1
      && context.console.dataTerminal.isInteractive && [nil, .table].contains(options.format)
  }

  /// Why the journal cannot serve this command; nil if it can.
  private func reasonAgainstJournal(
    _ watching: Watching, _ details: [String: JournalDetail], hasFilter: Bool
  ) -> String? {
    if sort != nil || isWindow { return "\(resultOption) follows changes from now on" }
    if details.isEmpty { return "The change journal is off" }
    for model in watching.models {
      guard let detail = details[model.name] else {
        return "The change journal does not record \(model.name)"
      }
      guard detail == .full || predicate.text == nil && options.fields == nil && !snapshot else {
        return "The change journal records only the keys of \(model.name)"
      }
    }
    guard hasFilter || predicate.text == nil else {
      return "Only SQLite can evaluate this predicate"
    }
    return nil
  }

  private func followJournal(
    _ selection: WatchSelection, _ queries: [StoreQuery<DynamicRecord>], _ watching: Watching,
    _ details: [String: JournalDetail], _ output: inout WatchOutput
  ) throws -> Bell.Waking? {
    let store = watching.opened.store
    let journal = store.changeJournal
    let end = try journal.position()
    let start = try since?.position(in: journal) ?? end
    func watch(_ store: Store) -> JournalWatch {
      JournalWatch(
        store: store, past: end, selection: selection, bell: watching.bell,
        deadline: watching.deadline, drains: timeout.flatMap(TimeText.span) == 0,
        context: watching.context)
    }
    guard let consumer else {
      if snapshot {
        let present =
          try queries.isEmpty
          ? readable(watching).filter { details[$0.schema.name] != nil } : queries
        try output.write(try stored(present, in: store, at: start))
        try output.flush()
      }
      try watching.sayStart("position \(start)")
      var follower = watch(store)
      return try follower.follow(after: start, to: &output)
    }
    if since != nil, try store.consumers().contains(where: { $0.name == consumer }) {
      try watching.context.console.say(
        "the consumer \(consumer) continues where it ended; --since is for new consumers")
    }
    store.close()
    let writable = try watching.context.openToFollow(onReplacement: watching.bell.fail).store
    let reader = try writable.consumer(consumer, startingAt: .position(start))
    try watching.sayStart("position \(try reader.status().position), consumer \(consumer)")
    var follower = watch(writable)
    return try follower.follow(reader, to: &output)
  }

  /// The records at the position where watching begins, so that no change is missing or printed
  /// twice.
  private func stored(
    _ queries: [StoreQuery<DynamicRecord>], in store: Store, at position: JournalPosition
  ) throws -> [WatchedChange] {
    let now = TimeText.now
    return try queries.flatMap { query in
      try store.fetch(query, at: position).compactMap { record in
        let fields = zip(query.schema.fields, record.values).map {
          ChangeLine.Field(name: $0.name, old: nil, new: $1)
        }
        let change = ChangeLine(
          operation: .insert, model: query.schema.name, key: record.key, fields: fields,
          origin: .user, schema: query.schema)
        return WatchedChange(
          change: change, isSnapshot: true, passage: predicate.text.map { _ in .within },
          time: now
        ).narrowed(to: options.fieldNames)
      }
    }
  }

  private func followResults(
    _ queries: [StoreQuery<DynamicRecord>], _ watching: Watching, _ output: inout WatchOutput
  ) throws -> Bell.Waking? {
    let followed = try queries.isEmpty ? readable(watching) : queries
    let watch = LiveWatch(
      of: watching.opened.store, watching.bell, isCoalescing: coalesce, fields: options.fieldNames,
      includesIndices: predicate.text != nil || sort != nil || isWindow)
    return try watch.follow(
      followed, snapshot: snapshot, until: watching.deadline, to: &output
    ) { live in
      if isWindow, let live = live.first, !live.keepsOnlyItsWindow {
        try watching.context.console.say(LiveTable.readsAll)
      }
      try watching.sayStart("now")
    }
  }

  /// Every model that has a key and can be read. Prints which models cannot.
  private func readable(_ watching: Watching) throws -> [StoreQuery<DynamicRecord>] {
    let store = watching.opened.store
    var unread = UnreadModels()
    let models = try store.schema.models.filter { !$0.key.isEmpty }.filter { model in
      let isReadable: Void? = try unread.attempt(model.name) {
        try store.read { reads in
          // Changes are also read by key.
          guard let record = try reads.fetchFirst(StoreQuery<DynamicRecord>(model)) else { return }
          _ = try reads.find(model, key: record.key)
        }
      }
      return isReadable != nil
    }
    _ = try unread.report(to: watching.context, otherwise: .ok)
    return models.map { StoreQuery<DynamicRecord>($0) }
  }
}
