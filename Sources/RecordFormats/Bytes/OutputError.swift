/// Why a result could not be written.
package enum OutputError: Error, Hashable, Sendable, CustomStringConvertible {
  /// The program reading the output closed it: end without a word.
  case readerClosed
  /// The command was asked to end, and the program reading the output takes nothing.
  case stalled
  /// Writing failed: disk full, device gone.
  case unwritable(SystemError)
  /// JSON has no NaN, and neither has SQLite.
  case notANumber
  /// Two columns would be one key of a JSON object.
  case duplicateColumn(String)

  package var description: String {
    switch self {
    case .readerClosed: "the reader of the output went away"
    case .stalled: "nobody takes the output"
    case .unwritable(let error): "cannot write the output: \(error)"
    case .notANumber: "JSON cannot express what is not a number"
    case .duplicateColumn(let name):
      "two columns are named \(name); JSON needs distinct names, so rename one"
    }
  }
}
