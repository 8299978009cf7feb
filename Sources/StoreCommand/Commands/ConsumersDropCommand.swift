import ArgumentParser
import ModelStore

/// `consumers drop`: removes a consumer.
struct ConsumersDropCommand: ChangingCommand {
  static let configuration = CommandConfiguration(
    commandName: "drop", abstract: "Drop a consumer, so that the journal can trim its entries.",
    discussion: "Example: storecli consumers drop search-index")

  @Argument(help: "The consumer's name.", completion: Completion.consumer)
  var name: String

  @OptionGroup var change: ChangeOptions
  @OptionGroup(title: "Common options") var options: GlobalOptions

  var hasData: Bool { false }

  func run(_ context: CommandContext) throws -> ExitCode {
    let drop = CatalogDrop(
      noun: "consumer", code: .unknownConsumer, list: "storecli consumers list",
      names: { try $0.consumers().map(\.name) },
      drop: { try $0.openForWriting().store.dropConsumer(name) })
    try drop.run(name, context)
    return .ok
  }
}
