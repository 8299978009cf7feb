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
      try pointing(at: text) { () throws(PredicateTextError) in
        try parser.condition(parsing: text)
      }
    }
    query.orderings =
      try sort.map { text in
        try pointing(at: text) { () throws(PredicateTextError) in
          try parser.orderings(parsing: text)
        }
      } ?? []
    return query
  }

  private func pointing<Result>(
    at text: String, _ body: () throws(PredicateTextError) -> Result
  ) throws -> Result {
    do {
      return try body()
    } catch {
      throw Self.commandError(error, in: text)
    }
  }

  private static func commandError(_ error: PredicateTextError, in text: String) -> CommandError {
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
      details: caret(under: error, in: text), hint: hint, model: error.model,
      field: error.kind == .unknownField ? error.token : nil)
  }

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
