import ArgumentParser

/// A command that does something, as opposed to a noun that groups some.
protocol LeafCommand: ParsableCommand {
  var options: GlobalOptions { get }

  /// Whether `--fields` has columns to choose from.
  var takesFields: Bool { get }

  /// Does it.
  ///
  /// - Throws: Anything that ``CommandError`` has words for.
  func run(_ context: CommandContext) throws -> ExitCode
}

extension LeafCommand {
  var takesFields: Bool { true }
}
