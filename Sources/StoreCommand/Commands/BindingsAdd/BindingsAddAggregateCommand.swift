import ArgumentParser
import ModelStore

/// `bindings add aggregate`: a field that follows many records.
struct BindingsAddAggregateCommand: BindingAddition {
  typealias Function = BindingSchema.Aggregate.Function

  static let configuration = CommandConfiguration(
    commandName: "aggregate", abstract: "Keep a count, a sum or another total of many records.",
    discussion: """
      Examples: storecli bindings add aggregate Album.length --function sum \
      --from Track.milliseconds --through albumID
      storecli bindings add aggregate Album.tracks --function count --from Track --through albumID
      storecli bindings add aggregate Shop.orders --function count --from Order --of 1
      storecli bindings add aggregate Order.total --function sum --from Line \
      --as 'quantity * price' --scale 2 --through orderID
      --through or --match says which records belong to a total; --of names the one record that \
      holds the total of all. \(BindingsAddCommand.consequences)
      """)

  @Argument(
    help: ArgumentHelp("The field that holds the total.", valueName: "model.field"),
    completion: Completion.modelField)
  var target: String

  @Option(
    help: ArgumentHelp(
      "count, sum, average, minimum, maximum, first, last or joined.", valueName: "function"),
    transform: { name in
      guard let function = Function(rawValue: name) else {
        let names = Function.allCases.map(\.rawValue).joined(separator: ", ")
        throw ValidationError("--function takes one of \(names); got \(name).")
      }
      return function
    })
  var function: Function

  @Option(
    help: ArgumentHelp(
      "The field to total, or with count or --as the model.", valueName: "model.field"))
  var from: String

  @Option(
    name: .customLong("as"),
    help: ArgumentHelp(
      "With sum, average, minimum and maximum, the SQL expression to total instead of a field.",
      valueName: "sql"))
  var expression: String?

  @Option(
    help: ArgumentHelp(
      "With --as, the most digits that a decimal has after its point.", valueName: "digits"))
  var scale: Int?

  @OptionGroup var link: BindingLink

  @Option(
    help: ArgumentHelp("The key of the one record that holds the total of all.", valueName: "key"))
  var of: String?

  @Option(
    name: .customLong("where"),
    help: ArgumentHelp("Only source records that meet this SQL.", valueName: "sql"))
  var condition: String?

  @Option(
    help: ArgumentHelp("With first, last and joined, the field to sort by.", valueName: "field"))
  var by: String?

  @Option(help: ArgumentHelp("With joined, the text between values.", valueName: "text"))
  var separator: String?

  @OptionGroup var binding: BindingOptions
  @OptionGroup var write: WriteOptions
  @OptionGroup(title: "Common options") var options: GlobalOptions

  func validate() throws {
    try link.check(without: of)
    guard by == nil || [.first, .last, .joined].contains(function) else {
      throw ValidationError("--by goes with --function first, last and joined.")
    }
    guard separator == nil || function == .joined else {
      throw ValidationError("--separator goes with --function joined.")
    }
    guard scale == nil || expression != nil else {
      throw ValidationError("--scale goes with --as.")
    }
  }

  var missingLink: String? { link.missing(without: of) }

  func formula(
    into target: BindingSchema.Field, of model: ModelSchema, _ words: BindingWords
  ) throws -> BindingSchema.Formula {
    let (source, field) = try words.modelOrField(from)
    return .aggregate(
      BindingSchema.Aggregate(
        function, model: source.name, field: field?.name, expression: expression, scale: scale,
        order: by, separator: separator,
        match: try words.match(link, from: source, to: model, referring: .source),
        place: try of.map { try words.key($0, for: model) }, condition: condition))
  }
}
