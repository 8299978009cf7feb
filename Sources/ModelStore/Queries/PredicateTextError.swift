/// A mistake in the text of a predicate or an order, with its position.
package struct PredicateTextError: Error, Hashable, Sendable {
  /// The kind of the mistake.
  package enum Kind: Hashable, Sendable {
    /// The text does not follow the grammar.
    case syntax
    /// A name is not a field of the model.
    case unknownField
    /// A literal does not fit the field it is compared with.
    case value
    /// The text is too long, too deep, or contains too many values.
    case tooLarge
  }

  /// The kind of the mistake.
  package var kind: Kind
  /// A full sentence: the mistake and what to write instead.
  package var message: String
  /// The start of the wrong token, in UTF-8 bytes from 0.
  package var utf8Offset: Int
  /// The start of the wrong token, in characters from 0, for a caret under the text.
  package var characterOffset: Int
  /// The wrong token as written; empty at the end of the text.
  package var token: String
  /// Field names that you may have meant, best first.
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
