import ArgumentParser
import ModelStore

/// `bindings add two-way`: two fields that follow each other.
struct BindingsAddTwoWayCommand: BindingAddition {
  /// What happens when one write changes both fields.
  enum Conflict: String, CaseIterable, ExpressibleByArgument {
    case leftWins = "left-wins"
    case rightWins = "right-wins"
    case abort

    var meaning: BindingConflict {
      switch self {
      case .leftWins: .leftWins
      case .rightWins: .rightWins
      case .abort: .abort
      }
    }
  }

  enum Side: String, CaseIterable, ExpressibleByArgument {
    case left, right
  }

  static let configuration = CommandConfiguration(
    commandName: "two-way", abstract: "Keep two fields in sync, each following the other.",
    discussion: """
      Examples: storecli bindings add two-way Item.price --with Item.cents --as 'cents / 100.0' \
      --back 'CAST(round(price * 100) AS INTEGER)'
      storecli bindings add two-way Profile.email --with Account.email --through accountID
      The field of --with is the left side, the other one the right side. --as computes the right \
      side from the left and --back the left side from the right. \
      \(BindingsAddCommand.consequences)
      """)

  @Argument(
    help: ArgumentHelp("The field on the right side.", valueName: "model.field"),
    completion: Completion.modelField)
  var target: String

  @Option(help: ArgumentHelp("The field on the left side.", valueName: "model.field"))
  var with: String

  @OptionGroup var link: BindingLink

  @Option(
    name: .customLong("as"),
    help: ArgumentHelp(
      "An SQL expression that computes the right side from the left.", valueName: "sql"))
  var expression: String?

  @Option(
    help: ArgumentHelp(
      "An SQL expression that computes the left side from the right.", valueName: "sql"))
  var back: String?

  @Option(
    help: ArgumentHelp(
      "What happens when one write changes both sides; left-wins by default.",
      valueName: "policy"))
  var conflict: Conflict?

  @Option(
    help: ArgumentHelp(
      "The side whose present values are right; left by default.", valueName: "side"))
  var initially: Side?

  @OptionGroup var binding: BindingOptions
  @OptionGroup var write: WriteOptions
  @OptionGroup(title: "Common options") var options: GlobalOptions

  func formula(
    into target: BindingSchema.Field, of model: ModelSchema, _ words: BindingWords
  ) throws -> BindingSchema.Formula {
    let (left, field) = try words.field(with)
    let isSameRecord = left.name == model.name && link.through == nil && link.match == nil
    return .twoWay(
      BindingSchema.TwoWay(
        left: BindingSchema.Field(model: left.name, field: field.name),
        match: isSameRecord
          ? [] : try words.match(link, from: left, to: model, referring: .target),
        forward: expression, backward: back, conflict: (conflict ?? .leftWins).meaning,
        initially: initially == .right ? .right : .left))
  }
}
