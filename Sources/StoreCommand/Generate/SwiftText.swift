/// Names and literals of Swift.
enum SwiftText {
  /// Returns a string literal with the content `text`.
  static func literal(_ text: String) -> String {
    var result = "\""
    for scalar in text.unicodeScalars {
      switch scalar {
      case "\"": result += "\\\""
      case "\\": result += "\\\\"
      case "\n": result += "\\n"
      case "\r": result += "\\r"
      case "\t": result += "\\t"
      case _ where isShownAsItIs(scalar): result.unicodeScalars.append(scalar)
      default: result += "\\u{\(String(scalar.value, radix: 16, uppercase: true))}"
      }
    }
    return result + "\""
  }

  /// Returns `text` for a comment: on one line, and without characters that mislead its reader.
  static func comment(_ text: String) -> String {
    String(
      String.UnicodeScalarView(text.unicodeScalars.map { isShownAsItIs($0) ? $0 : " " }))
  }

  /// Whether the character is visible and does not change how its neighbours are shown.
  private static func isShownAsItIs(_ scalar: Unicode.Scalar) -> Bool {
    switch scalar.properties.generalCategory {
    case .control, .format, .lineSeparator, .paragraphSeparator, .surrogate, .privateUse,
      .unassigned:
      false
    default: true
    }
  }

  /// Returns an identifier for `name`: its letters and digits, with the words after the first
  /// capitalised.
  static func identifier(_ name: String, isType: Bool) -> String {
    var words: [String] = []
    var isInside = false
    for scalar in name.unicodeScalars {
      guard isLetterOrDigit(scalar) else {
        isInside = false
        continue
      }
      if isInside {
        words[words.count - 1].unicodeScalars.append(scalar)
      } else {
        words.append(String(scalar))
        isInside = true
      }
    }
    let capitalized = words.enumerated().map { index, word in
      index == 0 && !isType ? word : word.prefix(1).uppercased() + word.dropFirst()
    }
    let joined = capitalized.joined()
    guard let first = joined.unicodeScalars.first else { return isType ? "Model" : "field" }
    return first.properties.isXIDStart || first == "_" ? joined : "_" + joined
  }

  private static func isLetterOrDigit(_ scalar: Unicode.Scalar) -> Bool {
    guard !scalar.isASCII else {
      return scalar == "_" || scalar.properties.isAlphabetic
        || scalar.properties.numericType != nil
    }
    return scalar.properties.isAlphabetic && scalar.properties.isXIDContinue
      && scalar.properties.nfcQuickCheck
  }

  /// Returns the identifier as it is written: in backticks if it is a keyword.
  static func written(_ identifier: String) -> String {
    keywords.contains(identifier) ? "`\(identifier)`" : identifier
  }

  /// Returns the identifier as the label of an argument, where few keywords need backticks.
  static func label(_ identifier: String) -> String {
    ["inout", "let", "var"].contains(identifier) ? "`\(identifier)`" : identifier
  }

  private static let keywords: Set<String> = [
    "Any", "associatedtype", "class", "deinit", "enum", "extension", "fileprivate", "func",
    "import",
    "inout", "internal", "let", "operator", "private", "precedencegroup", "protocol", "public",
    "rethrows", "static", "struct", "subscript", "typealias", "var", "break", "case", "catch",
    "continue", "default", "defer", "do", "else", "fallthrough", "for", "guard", "if", "in",
    "repeat", "return", "throw", "switch", "where", "while", "as", "false", "is", "nil", "super",
    "throws", "true", "try",
  ]

  /// Returns `text` with each line indented by `count` steps.
  static func indented(_ text: String, by count: Int = 1) -> String {
    let blanks = String(repeating: "  ", count: count)
    return text.split(separator: "\n", omittingEmptySubsequences: false)
      .map { $0.isEmpty ? "" : blanks + $0 }.joined(separator: "\n")
  }

  /// Returns a call, on one line if it fits into `width` characters, otherwise with one argument
  /// on each line.
  static func call(_ name: String, _ arguments: [String], width: Int = 88) -> String {
    let line = "\(name)(\(arguments.joined(separator: ", ")))"
    guard line.count > width || line.contains("\n") else { return line }
    return "\(name)(\n\(indented(arguments.joined(separator: ",\n"))))"
  }

  /// Returns an array literal, with one element on each line.
  static func list(_ elements: [String]) -> String {
    guard !elements.isEmpty else { return "[]" }
    return "[\n\(indented(elements.joined(separator: ",\n"))),\n]"
  }
}

extension Unicode.Scalar.Properties {
  /// Whether the character stays as it is in the composed form, so that equal names are equal
  /// identifiers.
  fileprivate var nfcQuickCheck: Bool { canonicalCombiningClass == .notReordered }
}
