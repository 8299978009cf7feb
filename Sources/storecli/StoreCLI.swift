internal import ArgumentParser
internal import ModelStore

@main
struct StoreCLI: ParsableCommand {
  static let configuration = CommandConfiguration(commandName: "storecli")
}
