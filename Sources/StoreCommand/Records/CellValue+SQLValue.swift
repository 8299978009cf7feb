import ModelStore
import RecordFormats

// The boundary between stored values and the formats: the same five kinds under two names, so that
// neither module names the other.

extension CellValue {
  /// A stored value as it is.
  init(_ value: SQLValue) {
    switch value {
    case .null: self = .null
    case .integer(let number): self = .integer(number)
    case .real(let number): self = .real(number)
    case .text(let text): self = .text(text)
    case .blob(let bytes): self = .blob(bytes)
    }
  }
}

extension SQLValue {
  /// A cell as it is.
  init(_ cell: CellValue) {
    switch cell {
    case .null: self = .null
    case .integer(let number): self = .integer(number)
    case .real(let number): self = .real(number)
    case .text(let text): self = .text(text)
    case .blob(let bytes): self = .blob(bytes)
    }
  }
}
