/// Why a result could not be written.
enum OutputError: Error, Hashable, Sendable, CustomStringConvertible {
  /// The program reading the output went away: end without a word, see
  /// ``Console/endByBrokenPipe()``.
  case readerClosed
  /// The command was asked to end, and the program reading the output takes nothing.
  case stalled
  /// Writing failed: disk full, device gone.
  case unwritable(SystemError)
  /// JSON has no infinity and no NaN. `field` is nil when the number stands outside a record.
  case nonFiniteNumber(Double, field: String?)
  /// Two columns would be one key of a JSON object.
  case duplicateColumn(String)

  var description: String {
    switch self {
    case .readerClosed: "the reader of the output went away"
    case .stalled: "nobody takes the output"
    case .unwritable(let error): "cannot write the output: \(error)"
    case .nonFiniteNumber(let number, nil): "JSON cannot express the number \(number)"
    case .nonFiniteNumber(let number, let field?):
      "JSON cannot express the number \(number) of field \(field); -o csv and -o tsv write it so that import reads it again"
    case .duplicateColumn(let name):
      "two columns are named \(name); JSON needs distinct names, so rename one"
    }
  }
}
