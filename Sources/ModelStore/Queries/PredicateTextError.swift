/// Why the text of a predicate or an order was not understood, and where.
package struct PredicateTextError: Error, Hashable, Sendable {
  /// What kind of mistake it is.
  package enum Kind: Hashable, Sendable {
    /// The text does not follow the grammar.
    case syntax
    /// A name is no field of the model.
    case unknownField
    /// A literal does not fit the field it is compared with.
    case value
    /// The text is longer, deeper or holds more values than is allowed.
    case tooLarge
  }

  /// What is wrong with the text.
  package var kind: Kind
  /// A full sentence: what is wrong and what to write instead.
  package var message: String
  /// Where the offending token begins, in UTF-8 bytes from 0.
  package var utf8Offset: Int
  /// Where the offending token begins, in characters from 0, for a caret under the text.
  package var characterOffset: Int
  /// The offending token as written; empty at the end of the text.
  package var token: String
  /// Field names that were perhaps meant, best first.
  package var candidates: [String]
  /// The model whose predicate it is.
  package var model: String

  /// The error in the store's terms: `unknownField`, `invalidValue` or `invalidQuery`.
  package var storeError: StoreError {
    let code: StoreError.Code =
      switch kind {
      case .unknownField: .unknownField
      case .value: .invalidValue
      case .syntax, .tooLarge: .invalidQuery
      }
    return StoreError(
      code, description, model: model, field: kind == .unknownField ? token : nil)
  }
}

extension PredicateTextError: CustomStringConvertible {
  package var description: String {
    let hint = candidates.isEmpty ? "" : " Did you mean \(candidates.joined(separator: " or "))?"
    return "\(message) (column \(characterOffset + 1))\(hint)"
  }
}
