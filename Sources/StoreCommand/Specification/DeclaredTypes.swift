import ArgumentParser

/// The types of numbers among a command's options, which the parser's own description leaves out.
struct DeclaredTypes {
  private var types: [String: CommandSpecification.ValueType] = [:]

  /// Reads them from the properties of `command`.
  init(of command: any ParsableArguments.Type) {
    add(command)
  }

  private mutating func add(_ arguments: any ParsableArguments.Type) {
    for child in Mirror(reflecting: arguments.init()).children {
      if let group = child.value as? any ArgumentGroup {
        add(type(of: group).argumentsType)
      } else if let label = child.label, let number = Self.numberType(of: child.value) {
        // The property is behind `_`; its words are separated by hyphens in the option.
        let name = label.drop { $0 == "_" }.reduce(into: "") { name, character in
          name += character.isUppercase ? "-" + character.lowercased() : String(character)
        }
        types["--" + name] = number
        types[name] = number
      }
    }
  }

  private static func numberType(of value: Any) -> CommandSpecification.ValueType? {
    switch value {
    case is Option<Int>, is Option<Int?>, is Argument<Int>, is Argument<Int?>: .integer
    case is Option<Double>, is Option<Double?>: .number
    default: nil
    }
  }

  /// The type of an option or argument by its name; nil for one that is not a number.
  subscript(name: String) -> CommandSpecification.ValueType? { types[name] }
}

/// A property that stands for the options of another type.
private protocol ArgumentGroup {
  static var argumentsType: any ParsableArguments.Type { get }
}

extension OptionGroup: ArgumentGroup {
  fileprivate static var argumentsType: any ParsableArguments.Type { Value.self }
}
