import ModelStore
import RecordFormats

/// The fields that records of an input have, in the input's order.
final class InputFields: Sendable {
  let names: [String]
  /// Their positions in the model.
  let places: [Int]

  init(names: [String], places: [Int]) {
    self.names = names
    self.places = places
  }
}

/// One record of an input.
struct InputRecord {
  let fields: InputFields
  /// The values to write, in the order of ``fields``.
  let row: [SQLValue]
  /// The input's values of computed fields, which an export also contains.
  var computed: [ComputedValue] = []

  /// The values to write, by field.
  var values: [String: SQLValue] {
    Dictionary(uniqueKeysWithValues: zip(fields.names, row))
  }

  /// The record with the values of expressions.
  ///
  /// - Parameters:
  ///   - row: The values of the input that the expressions use.
  ///   - fields: Returns the fields at positions of the model.
  func setting(
    _ expressions: InputExpressions, _ row: [(name: String, value: SQLValue)],
    _ fields: ([Int]) -> InputFields
  ) throws -> InputRecord {
    let values = try expressions.values(for: row)
    return InputRecord(
      fields: fields(self.fields.places + expressions.fields.map(\.place)),
      row: self.row + values, computed: computed)
  }

  /// Compares the input's values of computed fields with the stored values.
  ///
  /// - Throws: ``StoreError`` with code `invalidValue` for the first that differs.
  func checkComputed(_ stored: DynamicRecord) throws {
    for value in computed {
      guard let index = stored.schema.fieldIndex(named: value.field.name),
        !value.agrees(with: stored.values[index])
      else { continue }
      let own = CellText.display(
        CellValue(FieldColumns.shown(stored.values[index], value.field)))
      throw StoreError(
        .invalidValue,
        "\(value.field.name) is computed by the database as \(own); the input has \(value).",
        model: stored.schema.name, field: value.field.name)
    }
  }
}

/// The input's value of a computed field.
struct ComputedValue: CustomStringConvertible {
  /// The value as it is written in the input.
  enum Form {
    case cell(String)
    case null
    case json(JSONValue)
  }

  let field: FieldSchema
  let form: Form

  /// Whether an export of `stored` looks the same, or the input means the same value.
  func agrees(with stored: SQLValue) -> Bool {
    do {
      switch form {
      case .null: return stored.isNull
      case .cell(let text):
        let exported = FieldColumns.exchanged(stored, field)
        if CellText.exchange(CellValue(exported), as: FieldColumns.meaning(of: field)) == text {
          return true
        }
        return try field.parse(cell: text) == stored
      case .json(let value): return try value.stored(in: field) == stored
      }
    } catch {
      // The input's value does not fit the field at all.
      return false
    }
  }

  var description: String {
    switch form {
    case .null: "null"
    case .cell(let text): "\u{201C}\(text.prefix(40))\u{201D}"
    case .json(let value): value.cell.map { CellText.display($0) } ?? "another value"
    }
  }
}
