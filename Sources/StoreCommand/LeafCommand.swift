import ArgumentParser

/// A command that runs, as opposed to a group of commands.
protocol LeafCommand: ParsableCommand {
  var options: GlobalOptions { get }

  /// Whether `--fields` has columns to choose from.
  var takesFields: Bool { get }

  /// Whether it prints data. A command that only reports what it did has errors, which may be JSON,
  /// but no rows to write in a format.
  var hasData: Bool { get }

  /// Whether it can write records as INSERT statements.
  var writesSQL: Bool { get }

  /// Whether a pager may show output that is longer than the screen. A command that asks, or that
  /// prints while it works, has none.
  var isPaged: Bool { get }

  /// Runs the command.
  ///
  /// - Throws: Any error; ``CommandError`` describes it.
  func run(_ context: CommandContext) throws -> ExitCode
}

extension LeafCommand {
  var takesFields: Bool { hasData }
  var hasData: Bool { true }
  var writesSQL: Bool { false }
  var isPaged: Bool { false }

  /// Parses the words behind the command's name; nil for help and mistakes, for which the root has
  /// the full name of the command.
  static func parsedAlone(_ words: [String]) -> Self? {
    do {
      return try parseAsRoot(words) as? Self
    } catch {
      return nil
    }
  }
}
