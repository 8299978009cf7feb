import ModelStore
import RecordFormats

/// A field as an export writes it. An import reads it into the same table, or into an empty copy of
/// the table, where the declared type alone says what values mean.
struct ExchangedField: Hashable, Sendable {
  let field: FieldSchema
  /// The field in an empty copy where its type is another one. With the same type, a copy keeps
  /// dates and UUIDs as text in any form, and refuses dates as numbers until it knows their unit.
  private let emptyCopy: FieldSchema?

  init(_ field: FieldSchema, of schema: ModelSchema) {
    self.field = field
    let declared = schema.kind == .table ? field.asDeclared : nil
    emptyCopy = declared?.type == field.type ? nil : declared
  }

  /// The field in an empty copy where stored values gave this one another type than the declaration
  /// does. A type that the owner set, such as `boolean` for a `NUMBER`, is set in the copy, too.
  private var overruledDeclaration: FieldSchema? {
    switch field.type {
    case .any, .integer, .real, .blob: emptyCopy
    default: nil
    }
  }

  /// Whether JSON marks the values that the type or the declaration does not have. Without either
  /// every value fits, and the column of a STRICT table holds no other.
  var hasMarks: Bool {
    field.declaredType != nil && field.type != .any || overruledDeclaration != nil
  }

  /// Whether JSON's plain spelling of `value` is read as that value wherever an import reads it.
  func isExact(_ json: JSONValue, for value: SQLValue) -> Bool {
    Self.isRead(json, as: value, in: field)
      && overruledDeclaration.map { Self.isRead(json, as: value, in: $0) } ?? true
  }

  private static func isRead(_ json: JSONValue, as value: SQLValue, in field: FieldSchema) -> Bool {
    switch (value, field.type) {
    case (.null, _), (_, .any), (.text, .text), (.integer, .integer), (.real, .real): return true
    default: break
    }
    do throws(StoreError) {
      return field.stores(try json.stored(in: field), as: value)
    } catch {
      return false
    }
  }

  /// Whether a cell of CSV or TSV with `value` is read back as that value or refused with an error,
  /// not silently as another one. Numbers of a column without a declared type are texts in an empty
  /// copy, where the type that stored values decided has to be set.
  func survivesText(_ value: SQLValue) -> Bool {
    // An import compares what the database computes, and does not write it.
    if field.generated != nil { return true }
    return survivesText(value, in: field) && emptyCopy.map { survivesText(value, in: $0) } ?? true
  }

  private func survivesText(_ value: SQLValue, in reader: FieldSchema) -> Bool {
    switch (value, reader.type) {
    case (.null, _): return true
    case (.blob, _): return reader.takesBytes
    case _ where reader.takesBytes: return false
    case (.text, .text), (.text, .any), (.integer, .integer), (.real, .real): return true
    // The column of a STRICT table holds nothing else.
    case _ where reader.declaredType == nil && reader.type != .any: return true
    default: break
    }
    let exchanged = FieldColumns.exchanged(value, field)
    guard let cell = CellText.exchange(CellValue(exchanged), as: FieldColumns.meaning(of: field))
    else {
      return true
    }
    do {
      return reader.stores(try reader.parse(cell: cell), as: value)
    } catch {
      return true
    }
  }

  /// Why a cell cannot hold `value`.
  func textProblem(_ value: SQLValue) -> String {
    let takesBytes = field.takesBytes || emptyCopy?.takesBytes == true
    guard case .text = value, !takesBytes else {
      let noun = Self.noun(value)
      return "cannot distinguish the \(noun) in \(field.name) from "
        + (takesBytes && noun != "blob" ? "a blob" : "text")
    }
    let type =
      survivesText(value, in: field)
      ? "declared type \(field.declaredType ?? "")" : "type \(field.type.rawValue)"
    return "would bring back another value for the text in \(field.name), which does not fit the "
      + type
  }

  private static func noun(_ value: SQLValue) -> String {
    switch value {
    case .null: "null"
    case .integer, .real: "number"
    case .text: "text"
    case .blob: "blob"
    }
  }
}
