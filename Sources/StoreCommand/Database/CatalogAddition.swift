import ModelStore

/// Adds a rule or a binding, which the file stores under a name.
struct CatalogAddition {
  /// What it is called in messages.
  let noun: String
  /// The command whose subcommands add, list and drop them.
  let command: String

  static let binding = Self(noun: "binding", command: "bindings")
  static let rule = Self(noun: "rule", command: "rules")

  /// The error for a name that exists, since names are unique in a store.
  ///
  /// - Parameter description: Describes the existing rule or binding.
  func isTaken(_ name: String, by description: String, model: String) -> CommandError {
    CommandError.usage(
      "The \(noun) \(name) exists already: \(description).",
      hint: "choose another --name, or "
        + "\(Program.name) \(command) drop \(Shell.quoted(name))",
      model: model)
  }

  /// The error for a rule or binding that the file cannot hold; the words of the command describe
  /// it.
  ///
  /// - Parameters:
  ///   - kind: The subcommand of `add`, if it has some.
  ///   - advice: A sentence after the message.
  func refused(
    _ error: StoreError, model: String?, field: String? = nil, kind: String? = nil,
    advice: String? = nil
  ) -> CommandError {
    let words = ["storecli", command, "add", kind, "--help"].compactMap(\.self)
    return CommandError.usage(
      [error.message, advice].compactMap(\.self).joined(separator: " "),
      hint: words.joined(separator: " "), model: model, field: field)
  }

  /// Prints what was done, or with `--dry-run` that it was not.
  ///
  /// - Parameter consequence: The effect on records; nil for none.
  func say(
    _ verb: String, _ sentence: String, consequence: String?, _ context: CommandContext
  ) throws {
    try context.console.say(sentence)
    if let consequence { try context.console.say(consequence) }
    if context.isDryRun { try context.console.say("dry run: nothing was \(verb)") }
  }
}
