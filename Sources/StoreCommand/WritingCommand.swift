import ArgumentParser

/// A command that changes records.
protocol WritingCommand: ChangingCommand {
  var write: WriteOptions { get }
}

extension WritingCommand {
  var change: ChangeOptions { write.change }
}
