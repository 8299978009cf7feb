import ArgumentParser

/// The predicate of a command that reads: `--where`, or the word after the model for short.
struct PredicateArguments: ParsableArguments {
  @Argument(
    help: ArgumentHelp("Short for --where.", valueName: "predicate"),
    completion: Completion.field)
  var word: String?

  @Option(
    name: .customLong("where"),
    help: ArgumentHelp(
      "Only records that meet this; see storecli help predicates.", valueName: "predicate"),
    completion: Completion.field)
  var option: String?

  /// The predicate, however it was passed.
  var text: String? { option ?? word }

  func validate() throws {
    guard word == nil || option == nil else {
      throw ValidationError("You passed two predicates. Pass one, with --where or after the model.")
    }
  }
}
