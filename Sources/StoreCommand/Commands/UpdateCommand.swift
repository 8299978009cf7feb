import ArgumentParser
import ModelStore

/// `update`: fields of one record, or of all that meet a predicate.
struct UpdateCommand: LeafCommand {
  static let configuration = CommandConfiguration(
    commandName: "update", abstract: "Change fields of records.",
    discussion: """
      Examples: storecli update Artist 1 name='Miles Davis'
      storecli update Track --where 'genreID = 2' plays+=1
      NAME= is empty text, NAME:null is null, NAME+=N adds, NAME=@FILE and NAME=- take a file and \
      standard input, NAME:=TEXT takes TEXT as it is.
      """)

  @Argument(help: "The model.")
  var model: String

  @Argument(
    help: ArgumentHelp(
      "The key, unless --where is given, then fields and their values.", valueName: "id field=value"
    ))
  var words: [String]

  @Option(
    name: .customLong("where"),
    help: ArgumentHelp("Change all records that meet this.", valueName: "predicate"))
  var predicate: String?

  @Flag(help: "Do not ask before changing what --where selects.")
  var yes = false

  @OptionGroup var write: WriteOptions
  @OptionGroup var options: GlobalOptions

  var takesFields: Bool { false }

  func run(_ context: CommandContext) throws -> ExitCode {
    let (opened, schema) = try context.openForWriting(write, model: model)
    guard let predicate else { return try updateOne(schema, opened, context) }
    let assignments = try assignments(words[...], schema, opened)
    let query = try PredicateText(schema: schema).query(where: predicate)
    if !write.dryRun {
      let count = try opened.read { reads in try reads.count(query) }
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
    try context.writing(opened, write) { transaction in
      if assignments.isAbsolute {
        _ = try transaction.update(query, set: try assignments.values(from: nil, of: schema))
        return
      }
      for record in try OpenedStore.reading({ try transaction.fetch(query) }) {
        try transaction.update(
          schema, key: record.key, set: try assignments.values(from: record, of: schema))
      }
    }
    return .ok
  }

  private func updateOne(
    _ schema: ModelSchema, _ opened: OpenedStore, _ context: CommandContext
  ) throws -> ExitCode {
    let key = try KeyText.parse(words[0], for: schema)
    let assignments = try assignments(words.dropFirst(), schema, opened)
    // What is set outright can be set over a value that cannot be read.
    try context.writing(opened, write, isRepair: assignments.isAbsolute) { transaction in
      let record =
        try assignments.isAbsolute
        ? nil : OpenedStore.reading { try transaction.find(schema, key: key) }
      guard assignments.isAbsolute || record != nil else { throw missing(key, of: schema) }
      do {
        try transaction.update(
          schema, key: key, set: try assignments.values(from: record, of: schema))
      } catch let error as StoreError where error.code == .recordNotFound {
        throw missing(key, of: schema)
      }
    }
    return .ok
  }

  private func missing(_ key: [SQLValue], of schema: ModelSchema) -> CommandError {
    CommandError(
      .notFound, code: "recordNotFound", "There is no \(schema.name) \(KeyText.text(key)).",
      hint: "storecli query \(Shell.quoted(schema.name))", model: schema.name)
  }

  private func assignments(
    _ words: ArraySlice<String>, _ schema: ModelSchema, _ opened: OpenedStore
  ) throws -> [Assignment] {
    guard !words.isEmpty else {
      throw CommandError.usage(
        "No field was given a value; write FIELD=VALUE after the key.",
        hint: "storecli models \(Shell.quoted(schema.name))", model: schema.name)
    }
    return try Assignment.parse(
      Array(words), for: schema, refusing: opened.location.storePaths)
  }
}
