import ArgumentParser

/// A command that does something, as opposed to a noun that groups some.
protocol LeafCommand: ParsableCommand {
  var options: GlobalOptions { get }

  /// Does it.
  ///
  /// - Throws: Anything that ``CommandError`` has words for.
  func run(_ context: CommandContext) throws -> ExitCode
}
