import ModelStore
import RecordFormats

#if canImport(FoundationEssentials)
  import FoundationEssentials
#else
  import Foundation
#endif

/// Predicates and orders from the command line, their errors pointing at the column.
struct PredicateText {
  private let parser: PredicateParser

  init(schema: ModelSchema) {
    parser = PredicateParser(schema: schema, now: Date())
  }

  /// The query for a predicate and an order; nil means all records and the order of keys.
  func query(where predicate: String?, sort: String? = nil) throws -> StoreQuery<DynamicRecord> {
    var query = StoreQuery<DynamicRecord>(parser.schema)
    query.condition = try predicate.map { text in
      if let sort, ["asc", "desc"].contains(text.lowercased()) {
        throw CommandError.usage(
          "\(text) follows --sort, but is no part of its value.", hint: Self.descending(sort))
      }
      return try pointing(at: text) { () throws(PredicateTextError) in
        try parser.condition(parsing: text)
      }
    }
    query.orderings =
      try sort.map { text in
        do {
          return try pointing(at: text) { () throws(PredicateTextError) in
            try parser.orderings(parsing: text)
          }
        } catch var error as CommandError {
          if let field = text.wholeMatch(of: Self.suffixedOrder)?.output.1 {
            error.hint = Self.descending(String(field))
          }
          throw error
        }
      } ?? []
    return query
  }

  /// One field with its direction behind it, as in SQL.
  private static var suffixedOrder: Regex<(Substring, Substring)> {
    /\s*["']?([\p{L}_][\p{L}\p{N}_]*)["']?(?:\s+|\s*:\s*)(?:[aA][sS][cC]|[dD][eE][sS][cC])\s*/
  }

  private static func descending(_ field: String) -> String {
    let name = field.hasPrefix("-") ? String(field.dropFirst()) : field
    return "--sort \(Shell.quoted("-" + name)) sorts in descending order"
  }

  private func pointing<Result>(
    at text: String, _ body: () throws(PredicateTextError) -> Result
  ) throws -> Result {
    do {
      return try body()
    } catch {
      throw commandError(error, in: text)
    }
  }

  private func commandError(_ error: PredicateTextError, in text: String) -> CommandError {
    if let (message, hint) = advice(for: error, in: text) {
      return CommandError(
        .usage, code: error.storeError.code.rawValue, message,
        details: Self.caret(under: error, in: text), hint: hint, model: error.model)
    }
    var message = error.message
    if !error.candidates.isEmpty {
      if message.last == "." { message.removeLast() }
      message += CommandError.meant(error.candidates)
    }
    let hint =
      error.kind == .unknownField
      ? "storecli models \(Shell.quoted(error.model))" : "storecli help predicates"
    return CommandError(
      .usage, code: error.storeError.code.rawValue, message,
      details: Self.caret(under: error, in: text), hint: hint, model: error.model,
      field: error.kind == .unknownField ? error.token : nil)
  }

  /// The message and hint for what SQL has and a predicate has not; nil for other mistakes.
  private func advice(
    for error: PredicateTextError, in text: String
  ) -> (message: String, hint: String)? {
    let before = text.prefix(error.characterOffset)
    let after = text.dropFirst(error.characterOffset + error.token.count)
    let isWord = error.token.wholeMatch(of: /[\p{L}_][\p{L}\p{N}_]*/) != nil
    if isWord, !PredicateText.operators.contains(error.token.lowercased()),
      after.drop(while: \.isWhitespace).first == "("
    {
      return ("A predicate has no functions such as \(error.token).", Self.sqlHint)
    }
    if error.kind == .syntax, ["*", "/", "%", "+", "-"].contains(error.token) {
      return (error.message, "a predicate has no arithmetic; use query --sql")
    }
    if error.message.hasPrefix("The text has no closing '") {
      return (error.message, "write '' for a quote in text")
    }
    if error.kind == .unknownField,
      ["yes", "no", "on", "off", "y", "n", "t", "f"].contains(error.token.lowercased()),
      let name = before.firstMatch(of: /([\p{L}_][\p{L}\p{N}_]*)"?\s*(?:[=!<>]+|is)\s*$/)?.output.1,
      let field = parser.schema.field(named: String(name)), field.type == .boolean
    {
      return ("\(name) takes true or false; got \(error.token).", "true or false")
    }
    return nil
  }

  private static let operators: Set = ["and", "or", "not", "in", "is", "between", "like", "glob"]

  private static let sqlHint = "a predicate has no functions; use query --sql"

  /// The stretch of the text around the token, and a caret line under it.
  private static func caret(under error: PredicateTextError, in text: String) -> [String] {
    let before = String(text.prefix(error.characterOffset).suffix(reach))
    let after = String(text.dropFirst(error.characterOffset).prefix(reach))
    let head = error.characterOffset > reach ? "\u{2026}" : ""
    let tail = text.dropFirst(error.characterOffset + reach).isEmpty ? "" : "\u{2026}"
    let indent = DisplayWidth.of(head + CellText.visible(before))
    let width = max(1, min(DisplayWidth.of(CellText.visible(error.token)), reach))
    return [
      "  " + head + CellText.visible(before + after) + tail,
      "  " + String(repeating: " ", count: indent) + String(repeating: "^", count: width),
    ]
  }

  /// Characters shown on either side of the token's beginning.
  private static let reach = 50
}
