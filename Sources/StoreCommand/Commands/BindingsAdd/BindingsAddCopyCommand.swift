import ArgumentParser
import ModelStore

/// `bindings add copy`: a field that follows a field of another record.
struct BindingsAddCopyCommand: BindingAddition {
  static let configuration = CommandConfiguration(
    commandName: "copy", abstract: "Copy a field from another record.",
    discussion: """
      Examples: storecli bindings add copy Album.artistName --from Artist.name --through artistID
      storecli bindings add copy City.country --from Country.name --match code=countryCode
      storecli bindings add copy Track.unit --from Setting.unit --of 1
      --through, --match or --of says which record to copy from. \(BindingsAddCommand.consequences)
      """)

  @Argument(
    help: ArgumentHelp("The field to fill.", valueName: "model.field"),
    completion: Completion.modelField)
  var target: String

  @Option(help: ArgumentHelp("The field to copy.", valueName: "model.field"))
  var from: String

  @OptionGroup var link: BindingLink

  @Option(help: ArgumentHelp("The key of the one record to copy from.", valueName: "key"))
  var of: String?

  @Option(
    name: .customLong("as"),
    help: ArgumentHelp("An SQL expression over the source, instead of its value.", valueName: "sql")
  )
  var expression: String?

  @Flag(help: "Keep the last value while the source record is missing.")
  var keepLast = false

  @OptionGroup var binding: BindingOptions
  @OptionGroup var write: WriteOptions
  @OptionGroup(title: "Common options") var options: GlobalOptions

  func validate() throws { try link.check(without: of) }

  var missingLink: String? { link.missing(without: of) }

  func formula(
    into target: BindingSchema.Field, of model: ModelSchema, _ words: BindingWords
  ) throws -> BindingSchema.Formula {
    let (source, field) = try words.field(from)
    let place = BindingSchema.Field(model: source.name, field: field.name)
    if let through = link.through, expression == nil, !keepLast {
      return .copy(source: place, through: through)
    }
    return .lookup(
      BindingSchema.Lookup(
        source: place, match: try words.match(link, from: source, to: model, referring: .target),
        place: try of.map { try words.key($0, for: source) },
        transform: expression, keepsLast: keepLast ? true : nil))
  }
}
