import ArgumentParser
import ModelStore
import RecordFormats

/// `watch`: what every program changes, as it happens.
struct WatchCommand: LeafCommand {
  static let configuration = CommandConfiguration(
    commandName: "watch", abstract: "Follow the changes of every program as they happen.",
    discussion: """
      Examples: storecli watch Track
      storecli watch Track 'plays > 10' --since 10m
      storecli watch Track --sort -plays --fold
      storecli watch Job --where "state == 'new'" --slot worker --exec ./work
      With a journal, each change tells who made it; see storecli journal. A predicate is held \
      against each record before and after a change: one that begins to meet it is told as an \
      insert with entered true, one that meets it no more as a delete with left true. With an \
      order, and without a journal, the result is followed, with the places in it: lines of one \
      step came at once, with places before and after all of them. Without a journal, what others \
      change in a record that stays is a gap.
      --exec runs a shell command for each change, which is one line of JSON on its standard \
      input. Status 0 is done with it. After another one, watch with a slot ends with 1, and tells \
      the change again next time; without a slot it goes on, and ends with 1 in the end.
      A slot has one place for all models: what a watch of it leaves out is behind it. Transactions \
      are told to a slot as a whole, so there may be more than --count. --since says where a new \
      slot begins.
      --fold tells of what was read at once only what it comes to for each record: a command is \
      run once for it, with a line for each. On a terminal it shows the records of a model as a \
      table, kept up to date.
      Where changes may be missing, there is a line with op gap, also with -q: seq and side say \
      where, models of which models, message why. A command of --exec is run for it, too, with \
      STORECLI_GAP set. --fail-on-gap ends with 2 then; a slot is not moved beyond the gap.
      Ctrl-C ends it with 130, SIGTERM with 143, after what is being told. Ends with 1 when the \
      time is over before --count was reached, and about a second after the file is replaced, \
      renamed or removed.
      """)

  @Argument(help: "The model; all of them when none is named.")
  var model: String?

  @Argument(help: "Which records; see storecli help predicates.")
  var predicate: String?

  @Option(
    name: .customLong("model"), help: ArgumentHelp("Also this model.", valueName: "model"))
  var otherModels: [String] = []

  @Option(
    name: .customLong("where"),
    help: ArgumentHelp("Which records, as the argument.", valueName: "predicate"))
  var condition: String?

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

  @Flag(help: "Tell what changes come to, not every step; on a terminal, as a table.")
  var fold = false

  @Option(
    help: ArgumentHelp("Run this shell command for each change.", valueName: "command"))
  var exec: String?

  @Option(
    parsing: .unconditional,
    help: ArgumentHelp("End after so many changes.", valueName: "count"))
  var count: Int?

  @Option(
    help: ArgumentHelp(
      "End after this time, such as 30s; after 0s when what is there was told.",
      valueName: "span"))
  var timeout: String?

  @Flag(help: "End with 2 at the first place where changes may be missing.")
  var failOnGap = false

  @OptionGroup var options: GlobalOptions

  private var modelNames: [String] { (model.map { [$0] } ?? []) + otherModels }

  private var chosenCondition: String? { predicate ?? condition }

  func validate() throws {
    guard count ?? 1 >= 1 else { throw ValidationError("--count takes 1 or more.") }
    guard timeout.map({ TimeText.span($0) != nil }) ?? true else {
      throw ValidationError("--timeout takes a number with s, m, h, d or w, such as 30s.")
    }
    guard !snapshot || since == nil && slot == nil else {
      throw ValidationError("--snapshot begins now; --since and --slot do not.")
    }
    guard sort == nil || since == nil && slot == nil else {
      throw ValidationError("An order is followed from now on only.")
    }
    guard predicate == nil || condition == nil else {
      throw ValidationError("The predicate stands as an argument or after --where.")
    }
    guard exec.map({ !$0.isEmpty }) ?? true, slot.map({ !$0.isEmpty }) ?? true else {
      throw ValidationError("--exec takes a command and --slot a name.")
    }
    guard chosenCondition == nil && sort == nil && options.fields == nil || modelNames.count == 1
    else { throw ValidationError("A predicate, --sort and --fields need one model.") }
  }

  func run(_ context: CommandContext) throws -> ExitCode {
    let ending = try isTable(context) ? show(context) : tell(context)
    if ending.hasFailedOnGap { return .found }
    switch ending.waking {
    case nil: return ending.failureCount == 0 ? .ok : .failed
    case .interrupted:
      try context.console.say("stopped after \(Grouped.text(ending.changeCount, "change"))")
      return .interrupted
    case .timedOut, .rung: return count == nil && ending.failureCount == 0 ? .ok : .failed
    }
  }

  /// Why watching ended, nil when there were as many changes as were asked for, and what it came
  /// to.
  private struct Ending {
    let waking: Bell.Waking?
    let changeCount: Int
    /// Commands that failed.
    var failureCount = 0
    var hasFailedOnGap = false
  }

  /// Shows the records of the only model as a table.
  private func show(_ context: CommandContext) throws -> Ending {
    let watching = try watching(context)
    let model = watching.models[0]
    let table = LiveTable(
      of: watching.opened.store, watching.bell,
      columns: try FieldColumns(of: model, names: options.fieldNames))
    let ending = try table.follow(
      try PredicateText(schema: model).query(where: chosenCondition, sort: sort),
      countMax: count ?? .max, until: watching.deadline, on: context.console)
    return Ending(waking: ending.waking, changeCount: ending.changeCount)
  }

  /// Writes what happens, change by change.
  private func tell(_ context: CommandContext) throws -> Ending {
    let handler = exec.map {
      WatchOutput.Handler(
        command: EventCommand(text: $0), takesAll: fold, isOwed: slot != nil)
    }
    var output = try WatchOutput(
      context, countMax: count, splitsParts: slot == nil, handler: handler,
      gapPolicy: failOnGap ? .end : .goOn)
    let waking = try follow(try watching(context), to: &output)
    return Ending(
      waking: waking, changeCount: output.count, failureCount: output.failureCount,
      hasFailedOnGap: output.hasFailedOnGap)
  }

  private func watching(_ context: CommandContext) throws -> Watching {
    Interruption.await()
    let bell = try Bell()
    // A slot is kept in the file, so it is opened for writing later, with what an application
    // declares. What is read until then must have the same models.
    let opened =
      try slot == nil
      ? context.openForReading(onReplacement: bell.fail) : context.openToLook(at: modelNames)
    return Watching(
      opened: opened, models: try modelNames.map { try opened.model(named: $0) }, bell: bell,
      deadline: timeout.flatMap(TimeText.span).map {
        ContinuousClock.now + Duration.microseconds($0)
      }, context: context)
  }

  /// What is watched, and until when.
  private struct Watching {
    let opened: OpenedStore
    /// None for all.
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
    let queries = try watching.models.map {
      try PredicateText(schema: $0).query(where: chosenCondition, sort: sort)
    }
    let details = try store.changeJournal.details()
    let filter = queries.first.flatMap { query in
      query.condition.flatMap { WatchFilter($0, schema: query.schema) }
    }
    if let reason = reasonAgainstJournal(watching, details, hasFilter: filter != nil) {
      guard since == nil, slot == nil else {
        throw CommandError(
          .failed, code: StoreError.Code.journalGap.rawValue,
          "\(reason), so there is no past to begin with.",
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
      fields: options.fieldNames, isFolding: fold)
    return try followJournal(selection, queries, watching, details, &output)
  }

  /// Whether the result is shown as a table.
  private func isTable(_ context: CommandContext) -> Bool {
    fold && exec == nil && !failOnGap && slot == nil && since == nil && modelNames.count == 1
      && context.console.dataTerminal.isInteractive && [nil, .table].contains(options.format)
  }

  /// Why the journal does not tell what is asked for; nil when it does.
  private func reasonAgainstJournal(
    _ watching: Watching, _ details: [String: JournalDetail], hasFilter: Bool
  ) -> String? {
    if sort != nil { return "An order is followed from now on" }
    if details.isEmpty { return "The journal does not enter anything" }
    for model in watching.models {
      guard let detail = details[model.name] else {
        return "The journal does not enter \(model.name)"
      }
      guard detail == .full || chosenCondition == nil && options.fields == nil && !snapshot else {
        return "The journal enters only the keys of \(model.name)"
      }
    }
    guard hasFilter || chosenCondition == nil else {
      return "Only SQLite itself can hold a record against this predicate"
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
    guard let slot else {
      if snapshot {
        let present =
          try queries.isEmpty
          ? readable(watching).filter { details[$0.schema.name] != nil } : queries
        try output.write(try stored(present, in: store, at: start))
        try output.flush()
      }
      try watching.sayStart("seq \(start)")
      var follower = watch(store)
      return try follower.follow(after: start, to: &output)
    }
    if since != nil, try store.consumers().contains(where: { $0.name == slot }) {
      try watching.context.console.say("the slot \(slot) goes on where it ended, not at --since")
    }
    store.close()
    let writable = try watching.context.openToFollow(onReplacement: watching.bell.fail).store
    let consumer = try writable.consumer(slot, startingAt: .position(start))
    try watching.sayStart("seq \(try consumer.status().position), slot \(slot)")
    var follower = watch(writable)
    return try follower.follow(consumer, to: &output)
  }

  /// The records at the position from which the journal is followed, so that nothing is missing or
  /// told twice.
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
          change: change, isSnapshot: true, passage: chosenCondition.map { _ in .within },
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
      of: watching.opened.store, watching.bell, isFolding: fold, fields: options.fieldNames,
      tellsPlaces: chosenCondition != nil || sort != nil)
    return try watch.follow(
      followed, snapshot: snapshot, until: watching.deadline, to: &output
    ) {
      try watching.sayStart("now")
    }
  }

  /// Every model that has a key and can be read here. Says which ones cannot.
  private func readable(_ watching: Watching) throws -> [StoreQuery<DynamicRecord>] {
    let store = watching.opened.store
    var unread = UnreadModels()
    let models = try store.schema.models.filter { !$0.key.isEmpty }.filter { model in
      let isReadable: Void? = try unread.attempt(model.name) {
        try store.read { reads in
          // By key, too: changes are read so.
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
