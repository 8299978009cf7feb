import ArgumentParser
import ModelStore
import RecordFormats

/// `hash`: the content hash of the store, of a model, or of the records that meet a predicate.
struct HashCommand: LeafCommand {
  static let configuration = CommandConfiguration(
    commandName: "hash", abstract: "Print a hash of the records, to compare stores.",
    discussion: """
      Examples: storecli hash -d copy.store
      storecli hash Track --where 'genreID = 1'
      Equal records have equal hashes, whatever the file's history: the order of writes, deleted \
      records, VACUUM and the change journal make no difference. Without a model, all records \
      of all models count, and the order of ordered lists; views, rules, bindings and tables \
      that are not models do not. The hash is SHA-256 and stays the same in later versions.
      """)

  @Argument(help: "The model; all of them when none is named.", completion: Completion.model)
  var model: String?

  @OptionGroup var predicate: PredicateArguments

  @OptionGroup(title: "Common options") var options: GlobalOptions

  func validate() throws {
    guard model != nil || predicate.text == nil else {
      throw ValidationError("--where needs a model.")
    }
  }

  func run(_ context: CommandContext) throws -> ExitCode {
    let opened = try context.openForReading()
    let query = try model.map { name in
      try PredicateText(schema: try opened.model(named: name)).query(where: predicate.text)
    }
    let hash = try opened.read { reads in
      try query.map { try reads.contentHash(of: $0) } ?? reads.contentHash()
    }
    var writer = try context.reportWriter(columns: [OutputColumn("hash", role: .whole)])
    try writer.write([.text(hash.description)])
    try context.finish(writer)
    return .ok
  }
}
