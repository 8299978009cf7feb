import ArgumentParser
import ModelStore

/// `insert`: one record from words, or many from a file, in one transaction.
struct InsertCommand: LeafCommand {
  static let configuration = CommandConfiguration(
    commandName: "insert", abstract: "Add records.",
    discussion: """
      Example: storecli insert Artist name='Nina Simone'
      NAME= is empty text, NAME:null is null, NAME=@FILE and NAME=- take a file and standard \
      input, NAME:=TEXT takes TEXT as it is. Fields left out get their defaults.
      """)

  @Argument(help: "The model.")
  var model: String

  @Argument(help: ArgumentHelp("Fields and their values.", valueName: "field=value"))
  var words: [String] = []

  @Option(
    help: ArgumentHelp("Add the records of this file, - for standard input.", valueName: "file"))
  var from: String?

  @Flag(help: "Update the record when the key is taken.")
  var upsert = false

  @OptionGroup var write: WriteOptions
  @OptionGroup var options: GlobalOptions

  func validate() throws {
    guard from == nil || words.isEmpty else {
      throw ValidationError("Choose fields on the command line or --from.")
    }
  }

  func run(_ context: CommandContext) throws -> ExitCode {
    let opened = try context.openForWriting(write)
    let schema = try opened.writableModel(named: model, write)
    let records = try self.records(for: schema, refusing: opened.location.storePaths)
    try context.writing(opened, write) { transaction in
      for values in records {
        if upsert {
          try transaction.upsert(values, into: schema)
        } else {
          try transaction.insert(values, into: schema)
        }
      }
    }
    return .ok
  }

  private func records(
    for schema: ModelSchema, refusing storePaths: [String]
  ) throws -> [[String: SQLValue]] {
    guard let from else {
      let assignments = try Assignment.parse(words, for: schema, refusing: storePaths)
      return [try assignments.values(from: nil, of: schema)]
    }
    var records: [[String: SQLValue]] = []
    let input = try RecordInput(
      path: from, schema: schema, options: RecordInput.Options(), refusing: storePaths)
    while let record = try input.next() { records.append(record) }
    return records
  }
}
