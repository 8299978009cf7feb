import ModelStore

extension BindingFinding {
  /// Whether the file lacks a table or column of the binding, so that rebuilding it does not help.
  var isGone: Bool {
    if case .gone = obstacle { true } else { false }
  }

  /// The command that drops the binding.
  var dropping: String { "\(Program.name) bindings drop \(Shell.quoted(binding))" }

  /// The command that repairs it.
  var remedy: String { isGone ? dropping : "\(Program.name) bindings rebuild" }
}
