import ModelStore

/// One column of a result: its name and how its values are to be read.
struct OutputColumn: Hashable, Sendable {
  /// What a column is for.
  enum Role: Hashable, Sendable {
    /// Part of the record's identity: shown first and never cut short.
    case key
    case field
    /// A field that is never cut short.
    case whole
  }

  /// What the stored values mean.
  enum Meaning: Hashable, Sendable {
    /// Themselves.
    case stored
    /// Integers 0 and 1 are false and true; anything else is itself.
    case truth
    /// Values of a field that import reads again: ``JSONValue/init(exporting:of:)``.
    case exported(ExchangedField)
    /// Texts are JSON to the formats that are JSON: ``CommandContext/list(_:as:)``.
    case json
  }

  var name: String
  var role: Role
  var meaning: Meaning

  init(_ name: String, role: Role = .field, meaning: Meaning = .stored) {
    self.name = name
    self.role = role
    self.meaning = meaning
  }
}
