import ArgumentParser
import ModelStore

/// `bindings add derive`: a field that follows an expression over its own record.
struct BindingsAddDeriveCommand: BindingAddition {
  static let configuration = CommandConfiguration(
    commandName: "derive", abstract: "Compute a field from other fields of the same record.",
    discussion: """
      Examples: storecli bindings add derive Track.slug --as 'lower(title)'
      storecli bindings add derive Person.fullName --as "first || ' ' || last"
      \(BindingsAddCommand.consequences)
      """)

  @Argument(
    help: ArgumentHelp("The field to compute.", valueName: "model.field"),
    completion: Completion.modelField)
  var target: String

  @Option(
    name: .customLong("as"),
    help: ArgumentHelp("The SQL expression over fields of the record.", valueName: "sql"))
  var expression: String

  @OptionGroup var binding: BindingOptions
  @OptionGroup var write: WriteOptions
  @OptionGroup(title: "Common options") var options: GlobalOptions

  func formula(
    into target: BindingSchema.Field, of model: ModelSchema, _ words: BindingWords
  ) throws -> BindingSchema.Formula {
    .derive(sql: expression)
  }
}
