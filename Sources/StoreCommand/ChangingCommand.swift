import ArgumentParser

/// A command that changes the file, or with `--dry-run` tells what it would change.
protocol ChangingCommand: LeafCommand {
  var change: ChangeOptions { get }
}

/// A command that changes records.
protocol WritingCommand: ChangingCommand {
  var write: WriteOptions { get }
}

extension WritingCommand {
  var change: ChangeOptions { write.change }
}
