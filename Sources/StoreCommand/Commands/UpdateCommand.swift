import ArgumentParser
import ModelStore

/// `update`: fields of one record, or of all that meet a predicate.
struct UpdateCommand: WritingCommand {
  static let configuration = CommandConfiguration(
    commandName: "update", abstract: "Change fields of records.",
    discussion: """
      Examples: storecli update Artist 1 name='Miles Davis'
      storecli update Track --where 'genreID = 2' plays+=1
      storecli update Artist 1 --edit
      FIELD= sets empty text, FIELD:null sets null, FIELD+=N adds N. FIELD=@FILE reads the value \
      from a file and FIELD=- from standard input. FIELD:=TEXT takes TEXT literally.
      --edit opens the record in VISUAL, EDITOR or vi, and writes the fields that you change. If \
      the text cannot be read, a rule refuses it, or the record has changed meanwhile, it opens \
      again with the reason. No lock is held while you edit.
      """)

  @Argument(help: "The model.", completion: Completion.model)
  var model: String

  @Argument(
    help: ArgumentHelp(
      "The key (not with --where), then fields and their values.", valueName: "id field=value"),
    completion: Completion.keyAndAssignments)
  var words: [String]

  @Option(
    name: .customLong("where"),
    help: ArgumentHelp(
      "Change all records that meet this; see storecli help predicates.", valueName: "predicate"),
    completion: Completion.field)
  var predicate: String?

  @Flag(help: "Edit the record of this key in your editor.")
  var edit = false

  @Flag(help: "Change the records that --where selects without asking.")
  var yes = false

  @OptionGroup var write: WriteOptions
  @OptionGroup(title: "Common options") var options: GlobalOptions

  var takesFields: Bool { false }

  func validate() throws {
    guard !edit || predicate == nil && words.count == 1 && !yes else {
      throw ValidationError("--edit takes a model and a key, and nothing else.")
    }
  }

  /// What is to be changed.
  private enum Target {
    case record(key: [SQLValue])
    case records(StoreQuery<DynamicRecord>)
  }

  func run(_ context: CommandContext) throws -> ExitCode {
    if edit { return try edit(context) }
    let (opened, schema, plan) = try context.openForWriting(write, model: model) {
      looked, schema in
      let target: Target =
        if let predicate {
          .records(try PredicateText(schema: schema).query(where: predicate))
        } else {
          .record(key: try key(in: words, of: schema, looked))
        }
      let assigning = predicate == nil ? words.dropFirst() : words[...]
      // Read once: one of the words may read standard input.
      return (target: target, assignments: try assignments(assigning, schema, looked))
    }
    switch plan.target {
    case .record(let key):
      try update(key, of: schema, plan.assignments, opened, context)
      return .ok
    case .records(let query):
      return try update(query, of: schema, plan.assignments, opened, context)
    }
  }

  private func update(
    _ query: StoreQuery<DynamicRecord>, of schema: ModelSchema, _ assignments: [Assignment],
    _ opened: OpenedStore, _ context: CommandContext
  ) throws -> ExitCode {
    func change(_ transaction: borrowing WriteTransaction) throws -> Int {
      if assignments.isAbsolute {
        return try transaction.update(query, set: try assignments.values(from: nil, of: schema))
      }
      let records = try OpenedStore.reading { try transaction.fetch(query) }
      for record in records {
        try transaction.update(
          schema, key: record.key, set: try assignments.values(from: record, of: schema))
      }
      return records.count
    }
    if !self.change.dryRun {
      let count = try opened.read { reads in try reads.count(query) }
      if count > 0, !yes, Confirmation.canAsk(context.console) {
        let changes = try opened.changes(mode: .preview) { transaction in
          _ = try change(transaction)
        }
        try ChangeReport(changes, in: opened.store.schema).preview(to: context.console)
      }
      let isGranted =
        try count == 0
        || Confirmation.isGranted(
          "Change \(Grouped.text(count, "\(schema.name) record"))?", isGiven: yes, flag: "--yes",
          console: context.console)
      guard isGranted else {
        try context.console.say("nothing was changed")
        return .failed
      }
    }
    try context.writing(opened, change)
    return .ok
  }

  private func update(
    _ key: [SQLValue], of schema: ModelSchema, _ assignments: [Assignment],
    _ opened: OpenedStore, _ context: CommandContext
  ) throws {
    // A new value can replace a stored value that cannot be read.
    let repair = try assignments.isAbsolute ? line(key, schema, assignments) : nil
    var bound = try BoundValues(schema, in: opened)
    try context.writing(opened, repair: repair) { transaction in
      let record =
        try assignments.isAbsolute
        ? nil : OpenedStore.reading { try transaction.find(schema, key: key) }
      guard assignments.isAbsolute || record != nil else { throw missing(key, of: schema) }
      do {
        let values = try assignments.values(from: record, of: schema)
        try transaction.update(schema, key: key, set: values)
        try bound.note(values, key: key, isDryRun: change.dryRun, transaction)
      } catch let error as StoreError where error.code == .recordNotFound {
        throw missing(key, of: schema)
      }
      return 1
    }
    bound.warn(context)
  }

  /// The change without the old values.
  private func line(
    _ key: [SQLValue], _ schema: ModelSchema, _ assignments: [Assignment]
  ) throws -> ChangeLine {
    let values = try assignments.values(from: nil, of: schema)
    return ChangeLine(
      operation: .update, model: schema.name, key: key,
      fields: schema.fields.compactMap { field in
        values[field.name].map { ChangeLine.Field(name: field.name, old: nil, new: $0) }
      }, origin: .user, schema: schema)
  }

  func missing(_ key: [SQLValue], of schema: ModelSchema) -> CommandError {
    CommandError(
      .notFound, code: "recordNotFound", "There is no \(schema.name) \(KeyText.text(key)).",
      hint: "storecli query \(Shell.quoted(schema.name))", model: schema.name)
  }

  /// The key, which the first word is.
  private func key(
    in words: [String], of schema: ModelSchema, _ opened: OpenedStore
  ) throws -> [SQLValue] {
    let line = ["storecli update", Shell.quoted(schema.name), "KEY"] + words.map(Shell.quoted)
    let missing = CommandError.usage(
      "The key is missing.", hint: line.joined(separator: " "), model: schema.name)
    // A key may be named too: id=3.
    let isAssignment = schema.fields.contains {
      !schema.key.contains($0.name) && words[0].hasPrefix($0.name + "=")
    }
    guard isAssignment else { return try KeyText.key(words[0], for: schema, in: opened) }
    // Any text can be a key of text.
    guard words.count > 1 else { throw missing }
    do {
      return try KeyText.key(words[0], for: schema, in: opened)
    } catch is CommandError {
      throw missing
    } catch is StoreError {
      throw missing
    }
  }

  private func assignments(
    _ words: ArraySlice<String>, _ schema: ModelSchema, _ opened: OpenedStore
  ) throws -> [Assignment] {
    guard !words.isEmpty else {
      throw CommandError.usage(
        "No values were given. Write FIELD=VALUE after the key.",
        hint: "storecli models \(Shell.quoted(schema.name))", model: schema.name)
    }
    return try Assignment.parse(
      Array(words), for: schema, reading: opened.inputs)
  }
}
