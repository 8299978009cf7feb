import ModelStore

/// Adds one of the things that the file keeps under names: a rule, a binding.
struct CatalogAddition {
  /// What it is.
  let noun: String
  /// The command whose subcommands add, list and drop them.
  let command: String

  static let binding = Self(noun: "binding", command: "bindings")
  static let rule = Self(noun: "rule", command: "rules")

  /// Names are unique in a store, so another one of that name would be lost.
  ///
  /// - Parameter description: Of the other one.
  func isTaken(_ name: String, by description: String, model: String) -> CommandError {
    CommandError.usage(
      "There is a \(noun) \(name) already: \(description).",
      hint: "give this one another --name, or "
        + "\(Program.name) \(command) drop \(Shell.quoted(name))",
      model: model)
  }

  /// A refusal of what cannot be kept: all that is said of it comes from the words of the command.
  func refused(_ error: StoreError, model: String?, field: String? = nil) -> CommandError {
    CommandError.usage(
      error.message, hint: "storecli \(command) add --help", model: model, field: field)
  }

  /// Says what was done, or with `--dry-run` that it was not.
  ///
  /// - Parameter consequence: What it means for records; nil for nothing.
  func say(
    _ verb: String, _ sentence: String, consequence: String?, _ context: CommandContext
  ) throws {
    try context.console.say(sentence)
    if let consequence { try context.console.say(consequence) }
    if context.isDryRun { try context.console.say("dry run: nothing was \(verb)") }
  }
}
