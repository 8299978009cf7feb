import ArgumentParser
import ModelStore

/// The options of `query` that compute numbers over many records.
struct AggregateOptions: ParsableArguments {
  @Option(
    help: ArgumentHelp(
      "One line for each value of these fields; of dates also due:month, :year, :week, :day, :hour.",
      valueName: "a,b"),
    completion: Completion.groupKeys)
  var by: String?

  @Option(
    help: ArgumentHelp("Print the sum of these fields.", valueName: "a,b"),
    completion: Completion.numbers)
  var sum: [String] = []

  @Option(
    help: ArgumentHelp("Print the mean of these fields.", valueName: "a,b"),
    completion: Completion.numbers)
  var avg: [String] = []

  @Option(
    help: ArgumentHelp("Print the smallest value of these fields.", valueName: "a,b"),
    completion: Completion.fields)
  var min: [String] = []

  @Option(
    help: ArgumentHelp("Print the largest value of these fields.", valueName: "a,b"),
    completion: Completion.fields)
  var max: [String] = []

  @Flag(help: "On a terminal, draw the one number of each line as a bar.")
  var bar = false

  /// Whether they ask for numbers, and not for records.
  var areGiven: Bool { by != nil || bar || !given.isEmpty }

  /// The fields of each function.
  private var given: [(function: Aggregate.Function, names: [String])] {
    [(Aggregate.Function.sum, sum), (.avg, avg), (.min, min), (.max, max)]
      .map { ($0, $1.flatMap { CommaList($0).texts }) }.filter { !$1.isEmpty }
  }

  /// The aggregates that they ask for.
  ///
  /// - Throws: ``CommandError`` for unknown fields and fields of the wrong type.
  func aggregates(count: Bool, of schema: ModelSchema) throws -> [Aggregate] {
    var found = count ? [Aggregate.count] : []
    for (function, names) in given {
      for name in names {
        let aggregate = try Aggregate(function, of: name, in: schema)
        if !found.contains(aggregate) { found.append(aggregate) }
      }
    }
    return found
  }

  /// What the groups have in common.
  func keys(of schema: ModelSchema) throws -> [GroupKey] {
    try (by.map { CommaList($0).texts } ?? []).map { try GroupKey($0, in: schema) }
  }

  /// - Throws: `ValidationError` for options that do not fit together.
  func validate(count: Bool) throws {
    guard areGiven else { return }
    let number = (count ? 1 : 0) + given.reduce(0) { $0 + $1.names.count }
    guard number > 0 else {
      throw ValidationError(
        "\(by == nil ? "--bar" : "--by") needs a number to print, such as --count or --sum FIELD.")
    }
    let lists = [by].compactMap(\.self) + sum + avg + min + max
    guard lists.allSatisfy({ CommaList($0).texts.allSatisfy { !$0.isEmpty } }) else {
      throw ValidationError("--by, --sum, --avg, --min and --max take names separated by commas.")
    }
    guard !bar || number == 1 && by.map({ CommaList($0).texts.count }) == 1 else {
      throw ValidationError("--bar draws one number by one field: --by FIELD --count --bar.")
    }
  }
}
