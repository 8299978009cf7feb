import ArgumentParser
import ModelStore
import RecordFormats

/// `insert`: one record from words, or many from a file, in one transaction.
struct InsertCommand: WritingCommand {
  static let configuration = CommandConfiguration(
    commandName: "insert", abstract: "Add records.",
    discussion: """
      Example: storecli insert Artist name='Nina Simone'
      FIELD= sets empty text, FIELD:null sets null. FIELD=@FILE reads the value from a file and \
      FIELD=- from standard input. FIELD:=TEXT takes TEXT literally. Other fields get their \
      defaults.
      """)

  @Argument(help: "The model.", completion: Completion.model)
  var model: String

  @Argument(
    help: ArgumentHelp("Fields and their values.", valueName: "field=value"),
    completion: Completion.assignment)
  var words: [String] = []

  @Option(
    help: ArgumentHelp("Add the records of this file, - for standard input.", valueName: "file"))
  var from: String?

  @Flag(help: "Update the record if the key exists.")
  var upsert = false

  @OptionGroup var write: WriteOptions
  @OptionGroup(title: "Common options") var options: GlobalOptions

  func validate() throws {
    guard from == nil || words.isEmpty else {
      throw ValidationError("Choose fields on the command line or --from.")
    }
  }

  var takesFields: Bool { false }

  func run(_ context: CommandContext) throws -> ExitCode {
    let (opened, schema, values) = try context.openForWriting(write, model: model) {
      looked, schema in
      try from == nil ? assigned(to: schema, looked) : [:]
    }
    guard let from else {
      var bound = try BoundValues(schema, in: opened)
      try context.writing(opened) { transaction in
        let record = try insert(values, into: schema, transaction)
        try bound.note(values, key: record.key, isDryRun: change.dryRun, transaction)
        return 1
      }
      bound.warn(context)
      return .ok
    }
    let input = try RecordInput(
      path: from, schema: schema, options: RecordInput.Options(),
      from: opened.inputs)
    // All of them are read before the transaction begins, so that no other writer waits for the
    // input.
    let records = try records(of: input)
    try context.writing(opened) { transaction in
      try transaction.deferReferenceChecks()
      for (record, line) in records {
        do {
          try record.checkComputed(try insert(record.values, into: schema, transaction))
        } catch {
          throw input.refusal(error, line: line)
        }
      }
      return records.count
    }
    return .ok
  }

  /// The values of the words, read once: one of them may read standard input.
  private func assigned(
    to schema: ModelSchema, _ opened: OpenedStore
  ) throws -> [String: SQLValue] {
    try Assignment.parse(words, for: schema, reading: opened.inputs)
      .values(from: nil, of: schema)
  }

  private func insert(
    _ values: [String: SQLValue], into schema: ModelSchema,
    _ transaction: borrowing WriteTransaction
  ) throws -> DynamicRecord {
    upsert
      ? try transaction.upsert(values, into: schema) : try transaction.insert(values, into: schema)
  }

  private func records(
    of input: RecordInput
  ) throws -> [(record: InputRecord, line: Int)] {
    var records: [(record: InputRecord, line: Int)] = []
    do {
      while let record = try input.next() { records.append((record, input.line)) }
    } catch {
      throw input.refusal(error, line: input.line)
    }
    return records
  }
}
