import ArgumentParser

/// A command that changes the file, or with `--dry-run` reports what it would change.
protocol ChangingCommand: LeafCommand {
  var change: ChangeOptions { get }
}
