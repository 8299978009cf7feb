import ArgumentParser

/// A command that goes a number of transactions back or forth.
protocol SteppingCommand: WritingCommand {
  /// How many transactions.
  var count: Int { get }
}

extension SteppingCommand {
  var takesFields: Bool { false }

  func validate() throws {
    guard count >= 1 else { throw ValidationError("The count is 1 or more.") }
  }
}
