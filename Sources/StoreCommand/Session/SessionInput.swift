/// Where the inputs of a session come from.
protocol SessionInput {
  /// The next input, waited for.
  ///
  /// - Parameter prompt: Returns what to show, whenever the input looks.
  mutating func next(_ prompt: () -> SessionPrompt) throws -> SessionEntry
}

/// One input of a session.
enum SessionEntry: Equatable {
  /// - Parameter line: The number of its first line in a script; nil on a terminal.
  case text(String, line: Int?)
  /// The person discarded the input.
  case cleared
  /// There is no more input, or the person asks to leave by Ctrl-D.
  case ended
  /// The terminal is gone, so nothing can be answered.
  case closed
  /// SIGTERM came.
  case terminated
}

/// What a prompt shows now.
struct SessionPrompt: Equatable {
  /// `music> `, or `music* 12s> ` in a transaction.
  var text: String
  /// Lines to print above the prompt. Each is returned once.
  var notices: [String] = []
  /// How long the prompt stays as it is, in milliseconds; -1 for until something happens.
  var pause: Int32 = -1
}
