import ArgumentParser
import ModelStore
import RecordFormats

/// `history`: the changes in the journal, newest first.
struct HistoryCommand: LeafCommand {
  static let configuration = CommandConfiguration(
    commandName: "history", abstract: "Show past changes, newest first.",
    discussion: """
      Examples: storecli history Track 17 --limit 5
      storecli history --since 10m --diff
      history reads the change journal; storecli journal shows what it records. Changes of programs \
      that do not use ModelStore have no time.
      Where changes may be missing, history prints a line with op gap, also with -q. Where the \
      journal of a model begins, the line says so. With --fail-on-gap, history ends with 2 in both \
      cases.
      The journal records no causes. A change is shown as that of a binding if the present bindings \
      explain it: drop a binding, and its earlier changes are shown as those of the program that \
      wrote the transaction.
      """)

  @Argument(help: "The model; all of them when none is named.", completion: Completion.model)
  var model: String?

  @Argument(help: ArgumentHelp("The key of a record.", valueName: "id"), completion: Completion.key)
  var key: String?

  @Option(
    parsing: .unconditional,
    help: ArgumentHelp(
      "Only changes after this position, span such as 10m, or date.", valueName: "position"),
    transform: JournalPlace.reading("--since"))
  var since: JournalPlace?

  @Option(help: "Only changes by this author.")
  var author: String?

  @Option(help: "Only changes with this tag.")
  var tag: String?

  @Option(
    help: ArgumentHelp(
      "Only changes by this program; foreign for programs without ModelStore.",
      valueName: "program"))
  var actor: String?

  @Option(help: "Only updates of this field, inserts and deletes.", completion: Completion.field)
  var field: String?

  @Option(
    name: .customLong("txn"), help: ArgumentHelp("Only this transaction.", valueName: "id"))
  var transaction: String?

  @Option(
    parsing: .unconditional,
    help: ArgumentHelp("The most changes to show; 20 on a terminal.", valueName: "count"))
  var limit: Int?

  @Flag(help: "Show all changes, also on a terminal.")
  var all = false

  @Flag(help: "Show the old and the new value on lines of their own.")
  var diff = false

  @Flag(help: "End with 2 when changes may be missing.")
  var failOnGap = false

  @OptionGroup(title: "Common options") var options: GlobalOptions

  var isPaged: Bool { true }

  static let terminalLimit = 20

  func validate() throws {
    guard limit ?? 0 >= 0 else { throw ValidationError("--limit takes 0 or more.") }
    guard limit == nil || !all else { throw ValidationError("Choose one of --limit and --all.") }
  }

  func run(_ context: CommandContext) throws -> ExitCode {
    let store = try context.openForReading()
    let journal = store.store.changeJournal
    let filter = try filter(in: store)
    let isForScreen = context.console.dataTerminal.isInteractive && context.format == .table
    let limit = limit ?? (isForScreen && !all ? Self.terminalLimit : .max)
    let start = try since?.position(in: journal)
    var report = JournalReport(context, showsRecord: key == nil, isDifference: diff)
    let models = JournalLine.models(of: store.store.schema)
    var shown = 0
    var before: JournalPosition?
    var hasMore = false
    // Newest first; an older change ends the search for gaps.
    var gaps: [StreamGap] = []
    try report.begin()
    search: while true {
      let page = try page(of: journal, before: before, filter)
      for transaction in page {
        if let start, transaction.positions.upperBound <= start { break search }
        var found = transaction.streamGaps(after: start ?? .start, of: { model ?? $0 == $0 })
        for change in transaction.changes.reversed() {
          if let start, change.position <= start { break }
          while let gap = found.last, gap.placeBefore >= change.position {
            gaps.append(found.removeLast())
          }
          guard shown < limit else {
            hasMore = true
            break search
          }
          for gap in gaps { try report.write(gap) }
          gaps = []
          try report.write(JournalLine(change, of: transaction, in: models))
          shown += 1
        }
        gaps += found.reversed()
      }
      guard let last = page.last, transaction == nil else { break }
      before = last.positions.lowerBound
    }
    if !hasMore { for gap in gaps { try report.write(gap) } }
    for gap in try losses(behind: hasMore ? nil : start, journal) { try report.write(gap) }
    try report.finish()
    try sayEnd(shown: shown, hasMore: hasMore, journal, context)
    return failOnGap && report.hasGap ? .found : .ok
  }

  private static let pageSize = 200

  private func page(
    of journal: ChangeJournal, before: JournalPosition?, _ filter: JournalFilter
  ) throws -> [JournalTransaction] {
    if let id = filter.transaction {
      let found = try journal.transactions(matching: filter)
      if found.isEmpty, try journal.transactions(matching: JournalFilter(transaction: id)).isEmpty {
        throw CommandError(
          .notFound, code: StoreError.Code.unknownTransaction.rawValue,
          "The change journal has no transaction \(id).", hint: "storecli history")
      }
      return found
    }
    return try journal.newestTransactions(
      before: before, matching: filter, limit: min(max(limit ?? .max, 1), Self.pageSize))
  }

  private func filter(in opened: OpenedStore) throws -> JournalFilter {
    var filter = JournalFilter(field: field, author: author, tag: tag)
    if actor == "foreign" { filter.isForeignOnly = true } else { filter.program = actor }
    if let field, model == nil { try check(field, in: opened.store.schema.models) }
    if let model {
      filter.model = model
      // A removed model may still have a history, but its keys cannot be parsed.
      if key != nil || field != nil {
        let schema = try opened.model(named: model)
        filter.key = try key.map { try recordedKey($0, of: schema, in: opened.store.changeJournal) }
        if let field { _ = try schema.requiredField(named: field) }
      } else if try opened.store.changeJournal.details()[model] == nil {
        _ = try opened.model(named: model)
      }
    }
    filter.transaction = try transaction.map { try TransactionID(argument: $0) }
    return filter
  }

  /// The key that `text` means. The record may be deleted; the journal still has its key.
  private func recordedKey(
    _ text: String, of schema: ModelSchema, in journal: ChangeJournal
  ) throws -> [SQLValue] {
    try KeyText.key(text, for: schema) { meanings in
      try meanings.filter { meaning in
        // Gaps of the model concern every key.
        try journal.transactions(matching: JournalFilter(model: schema.name, key: meaning))
          .contains { !$0.changes.isEmpty }
      }
    }
  }

  /// - Throws: ``CommandError`` for a field that no model has.
  private func check(_ name: String, in models: [ModelSchema]) throws {
    guard models.allSatisfy({ $0.field(named: name) == nil }) else { return }
    let near = NearMiss.suggestions(
      for: name, among: Set(models.flatMap { $0.fields.map(\.name) }).sorted())
    throw CommandError(
      .usage, code: "unknownField", "No model has a field \(name)" + CommandError.meant(near),
      hint: "storecli models", field: name)
  }

  /// Returns where changes that the command asked for may be missing in the journal.
  ///
  /// - Parameter start: The position after which everything was shown; nil if nothing was.
  private func losses(
    behind start: JournalPosition?, _ journal: ChangeJournal
  ) throws -> [StreamGap] {
    var gaps: [StreamGap] = []
    if let start, transaction == nil {
      let oldest = try journal.oldestPlace()
      if start < oldest { gaps.append(.trimmed(from: start, to: oldest)) }
    }
    return try gaps + journal.damageGaps(of: journal.damagedModels.filter { model ?? $0 == $0 })
  }

  private func sayEnd(
    shown: Int, hasMore: Bool, _ journal: ChangeJournal, _ context: CommandContext
  ) throws {
    if hasMore {
      try context.console.say("\(Grouped.text(shown)) shown  (--limit N, or --all)")
    } else if shown == 0, try journal.details().isEmpty {
      try context.console.say("no changes; the journal is off (\(Program.name) journal on)")
    } else {
      try context.console.say(Grouped.text(shown, "change"))
    }
  }
}

extension TransactionID {
  /// The transaction id that a word of the command line means.
  ///
  /// - Throws: ``CommandError`` if the word is not an id.
  init(argument: String) throws {
    guard let id = TransactionID(argument) else {
      throw CommandError.usage(
        "\(argument) is not the id of a transaction.", hint: "storecli history --header -o plain")
    }
    self = id
  }
}
