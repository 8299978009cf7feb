import ArgumentParser
import ModelStore
import RecordFormats

/// `journal`: the log of changes in the file.
struct JournalCommand: ParsableCommand {
  static let configuration = CommandConfiguration(
    commandName: "journal",
    abstract: "Record the changes of every program in the file.",
    subcommands: [
      JournalStatusCommand.self, JournalOnCommand.self, JournalOffCommand.self,
      JournalTrimCommand.self,
    ], defaultSubcommand: JournalStatusCommand.self)
}

/// `journal status`: what is recorded and kept, and the consumers.
struct JournalStatusCommand: LeafCommand {
  static let configuration = CommandConfiguration(
    commandName: "status", abstract: "Show what the journal records and keeps, and its consumers.",
    discussion: """
      Example: storecli journal status
      With --json, prints one object that also has the positions, the size and the consumers.
      """)

  @OptionGroup(title: "Common options") var options: GlobalOptions

  var isPaged: Bool { true }

  func run(_ context: CommandContext) throws -> ExitCode {
    let status = try context.openForReading().store.changeJournal.status()
    if context.format == .json || context.format == .ndjson {
      guard options.fieldNames == nil else {
        throw CommandError.usage("--fields chooses columns; status prints one object.")
      }
      try context.console.writeLine(try JSONText.text(status.json))
      return .ok
    }
    var writer = try context.reportWriter(
      columns: [OutputColumn("model", role: .key), OutputColumn("detail")])
    for (model, detail) in status.details.sorted(by: { $0.key < $1.key }) {
      try writer.write([.text(model), .text(detail.rawValue)])
    }
    try context.finish(writer)
    for line in status.sentences { try context.console.say(line) }
    return .ok
  }
}

extension JournalStatus {
  fileprivate var json: JSONValue {
    let models = details.sorted { $0.key < $1.key }
      .map { JSONValue.Member($0.key, .string($0.value.rawValue)) }
    let readers = consumers.map { consumer in
      JSONValue.object([
        .init("name", .string(consumer.name)),
        .init("position", .integer(consumer.position.rawValue)),
        .init("lag", .integer(consumer.lag)),
      ])
    }
    return .object([
      .init("models", .object(models)),
      .init("damaged", .array(drift.map { .string($0.owner.name) })),
      .init("first", positions.map { .integer($0.lowerBound.rawValue) } ?? .null),
      .init("last", positions.map { .integer($0.upperBound.rawValue) } ?? .null),
      .init("entries", .integer(Int64(entryCount))), .init("bytes", .integer(byteCount)),
      .init("oldest", oldestTime.map { .string(TimeText.iso($0)) } ?? .null),
      .init("consumers", .array(readers)),
    ])
  }

  fileprivate var sentences: [String] {
    var sentences =
      details.isEmpty
      ? ["the journal is off (\(Program.name) journal on)"]
      : ["the journal records the changes of \(Grouped.text(details.count, "model"))"]
    sentences += drift.map { damage(of: $0.owner.name) }
    if let positions {
      let age = oldestTime.map { ", the oldest \(TimeText.ago($0))" } ?? ""
      sentences.append(
        "positions \(positions.lowerBound) to \(positions.upperBound): "
          + "\(Grouped.text(entryCount, "entry", "entries")), "
          + "\(Grouped.text(Int(byteCount), "byte"))\(age)")
    }
    sentences += consumers.map { consumer in
      "consumer \(consumer.name) at position \(consumer.position), "
        + "\(Grouped.text(Int(consumer.lag))) behind"
    }
    return sentences
  }

  /// The problem of a model's triggers, and the command that repairs it.
  func damage(of model: String) -> String { (details[model] ?? .full).damage(of: model) }
}
