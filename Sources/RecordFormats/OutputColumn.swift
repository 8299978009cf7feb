/// One column of a result: its name and the meaning of its values.
package struct OutputColumn: Hashable, Sendable {
  /// The purpose of a column.
  package enum Role: Hashable, Sendable {
    /// Part of the record's key: shown first and never cut.
    case key
    case field
    /// A field that is never cut.
    case whole
  }

  /// The meaning of the stored values.
  package enum Meaning: Hashable, Sendable {
    /// Values as stored.
    case stored
    /// Integers 0 and 1 are false and true. Other values are shown as stored.
    case truth
    /// Texts are JSON in JSON formats, and plain texts in the others.
    case json
  }

  package var name: String
  package var role: Role
  package var meaning: Meaning

  package init(_ name: String, role: Role = .field, meaning: Meaning = .stored) {
    self.name = name
    self.role = role
    self.meaning = meaning
  }
}
