import RecordFormats

/// How large a stored value may be for a command to read it. A command holds a value of the result
/// several times at once: as SQLite has it, as it was read, and as text.
enum ValueLimit {
  static let environmentName = "STORECLI_VALUE_MAX"

  /// In bytes: 64 MiB, with which a command takes some 500 MB at most.
  static let usual = 64 * 1024 * 1024

  /// The limit in bytes.
  ///
  /// - Throws: ``CommandError`` when the variable is set to anything but a positive number.
  static func bytes(in surroundings: Surroundings) throws -> Int {
    let variables = surroundings.variables([environmentName])
    guard let text = variables[environmentName], !text.isEmpty else { return usual }
    guard let number = Int(text), number > 0 else {
      throw CommandError.usage(
        "\(environmentName) takes a number of bytes, at least 1; got \(text)")
    }
    return number
  }
}
