import ArgumentParser
import ModelStore

/// A command that undoes or redoes a number of transactions.
struct SteppingCommand<Step: HistoryStep>: WritingCommand {
  static var configuration: CommandConfiguration { Step.configuration }

  @Argument(help: ArgumentHelp("How many transactions.", valueName: "count"))
  var count = 1

  @OptionGroup var write: WriteOptions
  @OptionGroup(title: "Common options") var options: GlobalOptions

  var takesFields: Bool { false }

  func validate() throws {
    guard count >= 1 else { throw ValidationError("The count is 1 or more.") }
  }

  func run(_ context: CommandContext) throws -> ExitCode {
    let name = Step.configuration.commandName ?? ""
    return try Reversing(
      verb: Step.verb, command: count == 1 ? name : "\(name) \(count)", write: write,
      step: Step.take, previews: Step.preview
    )
    .run(times: count, nothing: Step.nothing, context)
  }
}

/// One step of a ``SteppingCommand``, for one transaction.
protocol HistoryStep {
  static var configuration: CommandConfiguration { get }
  /// The verb for the report: `undid`.
  static var verb: String { get }
  /// The message if there is nothing to take back.
  static var nothing: String { get }

  static func take(in store: Store, mode: WriteMode) throws -> Reversal?
  static func preview(in store: Store, count: Int) throws -> ReversalPreview?
}
