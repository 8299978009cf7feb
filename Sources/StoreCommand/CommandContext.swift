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

  /// Opens an existing store for reading, to look at it before it is opened for writing.
  ///
  /// - Returns: Nil where only a writer can look: a program ended in the middle of a transaction,
  ///   which must be rolled back first, or a file that readers need is missing beside the database.
  /// - Throws: As ``openForReading()``.
  func openToLook(_ options: WriteOptions) throws -> OpenedStore? {
    do {
      return try open(access: .readOnly, busyTimeout: .seconds(options.busyTimeout))
    } catch let error as StoreError
      where error.code == .readOnly || error.code == .permissionDenied
    {
      return nil
    }
  }

  /// Opens an existing store for writing.
  ///
  /// Opening a database of another program for writing changes how it keeps its log, so whatever
  /// may refuse the command comes first.
  ///
  /// - Throws: As ``openForReading()``.
  func openForWriting(_ options: WriteOptions) throws -> OpenedStore {
    try open(access: .readWrite, busyTimeout: .seconds(options.busyTimeout))
  }

  /// Opens an existing store to write records of the model called `name`.
  ///
  /// - Throws: As ``openForReading()`` and ``OpenedStore/writableModel(named:_:)``; then the file
  ///   is as it was.
  func openForWriting(
    _ options: WriteOptions, model name: String
  ) throws -> (opened: OpenedStore, schema: ModelSchema) {
    if let looked = try openToLook(options) {
      _ = try looked.writableModel(named: name, options)
      looked.store.close()
    }
    let opened = try openForWriting(options)
    return (opened, try opened.writableModel(named: name, options))
  }

  private func open(
    access: StoreConfiguration.Access, busyTimeout: Duration
  ) throws -> OpenedStore {
    let location = try DatabaseLocation(option: options.database)
    if access == .readOnly {
      try console.say("database: \(location.path) via \(location.sourceText)", at: .verbose)
    }
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

  /// A writer of a report's rows: a choice of its columns, where `--fields` makes one.
  ///
  /// - Throws: ``CommandError`` for a name that is no column, with near misses.
  func reportWriter(columns: [OutputColumn]) throws -> any RowWriter {
    guard let names = options.fieldNames else { return try rowWriter(columns: columns) }
    let indices = try names.map { name in
      guard let index = columns.firstIndex(where: { $0.name == name }) else {
        throw CommandError.usage(
          "The result has no column \(name)"
            + CommandError.meant(NearMiss.suggestions(for: name, among: columns.map(\.name))),
          field: name)
      }
      return index
    }
    return ChosenColumns(
      indices: indices, writer: try rowWriter(columns: indices.map { columns[$0] }))
  }

  /// Ends a result and says when cells were cut in it.
  func finish(_ writer: any RowWriter) throws {
    var writer = writer
    try writer.finish()
    if writer.cutCellCount > 0 {
      try console.say(
        "\(Grouped.text(writer.cutCellCount, "cell")) cut to fit the screen (-o json or get shows all)"
      )
    }
  }
}

extension CommandContext {
  /// Runs one transaction and reports what it changed; a dry run rolls it back.
  ///
  /// - Parameter isRepair: Whether what `body` writes needs nothing of what was there. Then stored
  ///   values that cannot be read hinder the report only.
  /// - Throws: What `body` throws; a stored value that cannot be read is a failure of the file.
  func writing(
    _ opened: OpenedStore, _ options: WriteOptions, isRepair: Bool = false,
    _ body: (borrowing Transaction) throws -> Void
  ) throws {
    let store = opened.store
    guard !options.dryRun else {
      let changes = try opened.changes(isPreview: true, body)
      return try ChangeReport(changes, in: store.schema).write(to: self, isDryRun: true)
    }
    let changes: ChangeSet
    do {
      changes = try opened.changes(isPreview: false, body)
    } catch let error as CommandError where isRepair && error.isUnreadable {
      try store.write(body)
      return try telling {
        try console.say("written; what was there before cannot be read, so it is not shown")
      }
    }
    try telling {
      try ChangeReport(changes, in: store.schema).write(to: self, isDryRun: false)
    }
  }

  /// Runs `body`, which tells what is committed already. When it fails, the error says that only
  /// the telling did.
  func telling(_ body: () throws -> Void) throws {
    do {
      try body()
    } catch OutputError.readerClosed {
      throw OutputError.readerClosed
    } catch {
      var failure = CommandError(error)
      let reason = failure.message.last == "." ? failure.message.dropLast() : failure.message[...]
      failure.message = "The change is committed; only the report failed: \(reason)."
      throw failure
    }
  }
}
