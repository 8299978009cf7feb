import ArgumentParser

/// The options of every `bindings add` command.
struct BindingOptions: ParsableArguments {
  @Option(
    help: ArgumentHelp("Only for records of the bound model that meet this SQL.", valueName: "sql"))
  var when: String?

  @Option(
    help: ArgumentHelp(
      "Among several bindings of a field, the highest number whose --when holds wins.",
      valueName: "number"))
  var priority: Int?

  @Flag(help: "Replace only the number in the bound field's text.")
  var number = false

  @Option(help: "The binding's name; by default MODEL.FIELD of the bound field.")
  var name: String?

  @Flag(help: "Update existing records without asking.")
  var yes = false
}

/// How a binding finds the other record: by a reference or by equal values.
struct BindingLink: ParsableArguments {
  @Option(
    help: ArgumentHelp("The field that refers to the other record.", valueName: "field"))
  var through: String?

  @Option(
    help: ArgumentHelp(
      "Fields that are equal in both records, the source's first.",
      valueName: "source=target,..."))
  var match: String?

  func validate() throws {
    guard through == nil || match == nil else {
      throw ValidationError("Choose one of --through and --match.")
    }
  }

  /// Checks that at most one of the ways is given, where `key` can name the one record instead.
  func check(without key: String?) throws {
    guard key == nil || through == nil && match == nil else {
      throw ValidationError("Choose one of --through, --match and --of.")
    }
  }

  /// What to pass; nil if one of the ways is given.
  func missing(without key: String?) -> String? {
    guard through == nil, match == nil, key == nil else { return nil }
    return "Pass --through FIELD, --match SOURCE=TARGET or --of KEY."
  }
}
