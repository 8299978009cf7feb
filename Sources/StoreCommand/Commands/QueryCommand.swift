import ArgumentParser
import ModelStore
import RecordFormats

/// `query`: the records that meet a predicate, their number, or the rows of a SELECT.
struct QueryCommand: LeafCommand {
  static let configuration = CommandConfiguration(
    commandName: "query", abstract: "Show the records that meet a predicate.",
    discussion: """
      Examples: storecli query Track 'milliseconds > 300000 and composer is null'
      storecli query Track --where 'genreID = 1' --sort -milliseconds --limit 5
      storecli query Track --by albumID --count --avg milliseconds --sort -count
      storecli query Track --expand albumID --limit 5
      storecli query --sql 'SELECT count(*) FROM Track'
      A terminal shows the first 20 records; a pipe or a file gets all of them. Periods of dates \
      are in UTC; a week is the day of its Monday. Numbers are exact, except the mean and sums of \
      reals. --explain runs the statement, and advises an index only if a trial on a copy of the \
      records shows that it helps.
      """)

  /// Records shown on a terminal unless more are asked for.
  static let terminalLimit = 20

  @Argument(help: "The model.", completion: Completion.model)
  var model: String?

  @OptionGroup var predicate: PredicateArguments

  @Option(
    parsing: .unconditional,
    help: ArgumentHelp("Fields to sort by, - before a name for descending.", valueName: "a,-b"),
    completion: Completion.order)
  var sort: String?

  @Option(
    parsing: .unconditional, help: ArgumentHelp("The most records to show.", valueName: "n"))
  var limit: Int?

  @Option(parsing: .unconditional, help: ArgumentHelp("Records to skip first.", valueName: "n"))
  var offset: Int = 0

  @Flag(help: "Show all records, also on a terminal.")
  var all = false

  @Flag(help: "Print the number of records.")
  var count = false

  @OptionGroup var aggregates: AggregateOptions

  @Option(
    help: ArgumentHelp(
      "Also show the record to which a reference leads, or one of its fields: albumID.title.",
      valueName: "path"),
    completion: Completion.references)
  var expand: [String] = []

  @Option(help: ArgumentHelp("Run this SQL statement, which may only read.", valueName: "select"))
  var sql: String?

  @Flag(help: "Print how SQLite runs the statement, what that costs, and which index would help.")
  var explain = false

  @OptionGroup(title: "Common options") var options: GlobalOptions

  var isPaged: Bool { true }
  var writesSQL: Bool { sql == nil && !count && !aggregates.areGiven && !explain }

  func validate() throws {
    try aggregates.validate(count: count)
    guard sql == nil || !aggregates.areGiven && expand.isEmpty else {
      throw ValidationError(
        "--by, --sum, --avg, --min, --max, --bar and --expand need a model; write them into the "
          + "statement.")
    }
    guard (model == nil) != (sql == nil) else {
      throw ValidationError(
        model == nil
          ? "Name a model, or pass a statement with --sql."
          : "Pass a model or --sql, not both.")
    }
    guard limit ?? 0 >= 0, offset >= 0 else {
      throw ValidationError("--limit and --offset take 0 or more.")
    }
    guard limit == nil || !all else { throw ValidationError("Choose one of --limit and --all.") }
    guard sql == nil || !count && sort == nil && predicate.text == nil else {
      throw ValidationError(
        "--where, --count and --sort need a model; write them into the statement.")
    }
    guard !count || aggregates.areGiven || sort == nil && options.fields == nil && !all else {
      throw ValidationError("--count prints one number; leave out --sort, --fields and --all.")
    }
    guard !explain || ![.csv, .tsv, .yaml, .md, .sql].contains(options.format) else {
      throw ValidationError(
        "--explain prints text or JSON; choose -o json or leave out the format.")
    }
    guard !explain || options.fields == nil || sql == nil else {
      throw ValidationError("--explain takes --fields only with a model.")
    }
  }

  func run(_ context: CommandContext) throws -> ExitCode {
    let opened = try context.openForReading()
    if let sql {
      try show(SQLText(sql: sql), opened, context)
    } else if let model {
      try run(try opened.model(named: model), opened, context)
    }
    return .ok
  }

  private func run(
    _ schema: ModelSchema, _ opened: OpenedStore, _ context: CommandContext
  ) throws {
    if aggregates.areGiven {
      if !explain { context.beginResult() }
      return try showGroups(of: schema, opened, context)
    }
    let columns = try ResultColumns(
      of: schema, options, expanding: expandedPaths, as: context.format,
      in: opened.store.schema.models)
    let all = try PredicateText(schema: schema).query(where: predicate.text, sort: sort)
    var query = all
    query.offset = offset
    query.limit = count ? limit : shownMax(context)
    let text = count ? try query.countText() : try query.selectText()
    if explain {
      return try explain(text, of: IndexAdvice.Subject(query), opened, context)
    }
    context.beginResult(of: schema.name)
    try context.console.say(text.sql, at: .verbose)
    try opened.read { reads in
      guard !count else { return try writeCount(try reads.count(query), context) }
      var writer = try context.rowWriter(
        columns: columns.columns, recordName: schema.name, table: schema.table)
      var shown = 0
      let referenced = ReferencedRecords()
      try reads.forEach(query) { (record: DynamicRecord) in
        let row = try columns.row(of: record.values) { model, index, value in
          try referenced.find(model, index, value) { try reads.referenced($0, $1, $2) }
        }
        try writer.write(row)
        context.note(record.key)
        shown += 1
      }
      try context.finish(writer)
      guard context.console.loudness >= .usual else { return }
      guard shown == query.limit else { return try sayShown(shown, of: shown, context) }
      // Counting a view may take very long, although its first records are found at once.
      let total = try reads.count(all, maxStepCount: ModelsCommand.countStepMax)
      try sayShown(shown, of: total, context)
    }
  }

  /// The paths of `--expand`.
  var expandedPaths: [String] { expand.flatMap { CommaList($0).texts } }

  func shownMax(_ context: CommandContext) -> Int? {
    if let limit { return limit }
    let isForScreen = context.format == .table && context.console.dataTerminal.isInteractive
    return isForScreen && !all ? Self.terminalLimit : nil
  }

  private func writeCount(_ number: Int, _ context: CommandContext) throws {
    var writer = try context.rowWriter(columns: [OutputColumn("count")])
    try writer.write([.integer(Int64(number))])
    try context.finish(writer)
  }

  /// Prints how many records were shown, and their total unless that took too long to count.
  private func sayShown(_ shown: Int, of total: Int?, _ context: CommandContext) throws {
    guard let total else {
      return try context.console.say(
        "\(Grouped.text(shown, "record")) shown, there may be more  (--limit, or --all)")
    }
    if total > shown + offset {
      let (from, to, all) = (offset + 1, offset + shown, Grouped.text(total))
      try context.console.say(
        offset > 0 && shown > 0
          ? "records \(Grouped.text(from)) to \(Grouped.text(to)) of \(all)"
          : "\(Grouped.text(shown)) of \(all); --all shows the rest")
    } else if context.console.dataTerminal.isInteractive {
      try context.console.say(Grouped.text(shown, "record"))
    }
  }

  /// Reads with a statement that the user wrote.
  func reading<Result>(
    _ opened: OpenedStore, _ body: (borrowing ReadTransaction) throws -> Result
  ) throws -> Result {
    do {
      return try opened.read(body)
    } catch let error as StoreError where error.code == .misuse {
      throw CommandError.usage(
        "--sql runs only statements that read. Change records with insert, update and delete.",
        hint: "storecli update --help")
    } catch let error as StoreError
      where error.code == .invalidQuery && error.message.hasPrefix("The text holds ")
    {
      throw CommandError.usage("--sql: \(error.message) Pass one statement.")
    } catch let error as StoreError where error.code == .invalidQuery {
      // The user wrote the statement; the store did not build it from the catalog.
      throw CommandError(
        .usage, code: error.code.rawValue, CommandError.messageWithoutStatement(of: error),
        hint: "storecli models")
    }
  }

  /// Shows rows as SQLite finds them and keeps none. Reading stops at the limit: a result need not
  /// have an end.
  private func show(_ text: SQLText, _ opened: OpenedStore, _ context: CommandContext) throws {
    if explain { return try explain(text, of: nil, opened, context) }
    context.beginResult()
    let shownMax = shownMax(context) ?? .max
    var seen = 0
    var hasMore = false
    try reading(opened) { reads in
      let columns = try reads.columnNames(of: text).map { OutputColumn($0) }
      var writer = try context.reportWriter(columns: columns)
      let (end, isBeyond) = offset.addingReportingOverflow(shownMax)
      hasMore = try !forEachRow(of: text, reads, upTo: isBeyond ? .max : end) { row in
        seen += 1
        guard seen > offset else { return }
        try writer.write(row.values.map { CellValue($0) })
        context.note(Array(row.values.prefix(1)))
      }
      try context.finish(writer)
    }
    if hasMore {
      try context.console.say(
        "\(Grouped.text(shownMax, "row")) shown, there are more  (--limit, or --all)")
    } else if seen == 0 {
      try context.console.say("no rows")
    }
  }

  /// - Returns: Whether there are at most `rowCountMax` rows.
  private func forEachRow(
    of text: SQLText, _ reads: borrowing ReadTransaction, upTo rowCountMax: Int,
    _ body: (ResultRow) throws -> Void
  ) throws -> Bool {
    struct EnoughRows: Error {}
    var count = 0
    do {
      try reads.forEachRow(text) { row in
        guard count < rowCountMax else { throw EnoughRows() }
        count += 1
        try body(row)
      }
      return true
    } catch is EnoughRows {
      return false
    }
  }
}
