/// Why a result could not be written.
package enum OutputError: Error, Hashable, Sendable, CustomStringConvertible {
  /// The program that reads the output closed it. The command ends without a message.
  case readerClosed
  /// The command was asked to end, and the program that reads the output accepts no data.
  case stalled
  /// Writing failed: disk full, device gone.
  case unwritable(SystemError)
  /// As ``unwritable(_:)``, for a file that has a name.
  case unwritableFile(String, SystemError)
  /// JSON has no NaN, and SQLite has none either.
  case notANumber
  /// Two columns would have the same key in a JSON object.
  case duplicateColumn(String)
  /// A text with a NUL cannot be a value that ends with one.
  case nulInText(column: String)

  package var description: String {
    switch self {
    case .readerClosed: "the reader of the output went away"
    case .stalled: "the program that reads the output accepts no data"
    case .unwritable(let error): "cannot write the output: \(error)"
    case .unwritableFile(let path, let error): "cannot write \(path): \(error)"
    case .notANumber: "JSON cannot express a value that is not a number"
    case .nulInText(let column):
      "a text in \(column) contains a NUL, so its end cannot be marked with one; use -o json"
    case .duplicateColumn(let name):
      "two columns are named \(name); JSON needs distinct names, so rename one"
    }
  }
}
