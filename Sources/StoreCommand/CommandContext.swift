import ModelStore

/// What a command runs with: its options, its two voices, and the store they lead to.
struct CommandContext {
  let options: GlobalOptions
  let console: Console

  /// Opens the store for reading; never creates a file.
  ///
  /// - Throws: ``CommandError`` when no database is named or nothing is there; ``StoreError``.
  func openForReading() throws -> OpenedStore {
    try open(access: .readOnly, busyTimeout: .seconds(5))
  }

  /// Opens an existing store for writing.
  ///
  /// - Throws: As ``openForReading()``.
  func openForWriting(_ options: WriteOptions) throws -> OpenedStore {
    try open(access: .readWrite, busyTimeout: .seconds(options.busyTimeout))
  }

  private func open(
    access: StoreConfiguration.Access, busyTimeout: Duration
  ) throws -> OpenedStore {
    let location = try DatabaseLocation(option: options.database)
    try console.say("database: \(location.path) via \(location.sourceText)", at: .verbose)
    guard location.exists else { throw location.missing }
    var configuration = StoreConfiguration()
    configuration.access = access
    configuration.busyTimeout = busyTimeout
    return OpenedStore(
      store: try Store(at: location.path, configuration: configuration), location: location)
  }

  /// The format of a result.
  var format: OutputFormat { options.format ?? .preferred(on: console.dataTerminal) }

  /// A writer of rows in the chosen format.
  func rowWriter(
    columns: [OutputColumn], recordName: String? = nil
  ) throws -> any RowWriter {
    var choices = OutputFormat.Options()
    choices.header = options.header ? .present : nil
    choices.recordName = recordName
    return try format.writer(
      columns: columns, to: console.data, terminal: console.dataTerminal, options: choices)
  }

  /// Ends a result and says when cells were cut in it.
  func finish(_ writer: any RowWriter) throws {
    var writer = writer
    try writer.finish()
    if let table = writer as? Table, table.cutCellCount > 0 {
      try console.say(
        "\(Grouped.text(table.cutCellCount, "cell")) cut to fit the screen (-o json or get shows all)"
      )
    }
  }
}

extension CommandContext {
  /// Runs one transaction and reports what it changed; a dry run rolls it back.
  func writing(
    _ opened: OpenedStore, _ options: WriteOptions,
    _ body: (borrowing Transaction) throws -> Void
  ) throws {
    let store = opened.store
    let changes =
      try options.dryRun ? store.preview(body).changes : store.writeReporting(body).changes
    try ChangeReport(changes, in: store.schema).write(to: self, isDryRun: options.dryRun)
  }
}
