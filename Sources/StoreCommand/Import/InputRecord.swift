import ModelStore
import RecordFormats

/// One record of an input.
struct InputRecord {
  /// What is to be written, by field.
  var values: [String: SQLValue] = [:]
  /// What the input says of fields that the database computes: an export holds them, too.
  var computed: [ComputedValue] = []

  /// Compares what the input says of computed fields with what the database computed.
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

/// What an input says of a field that the database computes.
struct ComputedValue: CustomStringConvertible {
  /// The value as it stands in the input.
  enum Form {
    case cell(String)
    case null
    case json(JSONValue)
  }

  let field: FieldSchema
  let form: Form

  /// Whether an export of `stored` says the same, or the input means the same value.
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
