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

  var takesFields: Bool { false }

  func run(_ context: CommandContext) throws -> ExitCode {
    let (opened, schema) = try context.openForWriting(write, model: model)
    let records = try self.records(for: schema, refusing: opened.location.storePaths)
    try context.writing(opened, write) { transaction in
      for record in records {
        do {
          if upsert {
            try transaction.upsert(record.values, into: schema)
          } else {
            try transaction.insert(record.values, into: schema)
          }
        } catch let error as StoreError where error.code == .rejected {
          let placed = Self.placed(error, line: record.line)
          throw from.map { placed.naming($0) } ?? placed
        }
      }
    }
    return .ok
  }

  /// A record to add, and where it stands in its file.
  private struct NewRecord {
    var values: [String: SQLValue]
    var line: Int?
  }

  private func records(
    for schema: ModelSchema, refusing storePaths: [String]
  ) throws -> [NewRecord] {
    guard let from else {
      let assignments = try Assignment.parse(words, for: schema, refusing: storePaths)
      return [NewRecord(values: try assignments.values(from: nil, of: schema))]
    }
    var records: [NewRecord] = []
    let input = try RecordInput(
      path: from, schema: schema, options: RecordInput.Options(), refusing: storePaths)
    do {
      while let values = try input.next() {
        records.append(NewRecord(values: values, line: input.position.line))
      }
    } catch let error as InputError {
      throw CommandError(error).naming(from)
    } catch let error as StoreError {
      var refused = Self.placed(error, line: input.position.line).naming(from)
      refused.exitCode = .rejected
      throw refused
    }
    return records
  }

  private static func placed(_ error: StoreError, line: Int?) -> CommandError {
    var placed = CommandError(error)
    if let line { placed.message = "line \(line): \(placed.message)" }
    return placed
  }
}
