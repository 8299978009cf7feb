import ArgumentParser

/// A command that does something, as opposed to a noun that groups some.
protocol LeafCommand: ParsableCommand {
  var options: GlobalOptions { get }

  /// Whether `--fields` has columns to choose from.
  var takesFields: Bool { get }

  /// Whether it answers with data. What only says what it did has errors, which may be JSON, but no
  /// rows to write in a format.
  var hasData: Bool { get }

  /// Does it.
  ///
  /// - Throws: Anything that ``CommandError`` has words for.
  func run(_ context: CommandContext) throws -> ExitCode
}

extension LeafCommand {
  var takesFields: Bool { hasData }
  var hasData: Bool { true }
}
