/// One column of a result: its name and how its values are to be read.
package struct OutputColumn: Hashable, Sendable {
  /// What a column is for.
  package enum Role: Hashable, Sendable {
    /// Part of the record's identity: shown first and never cut short.
    case key
    case field
    /// A field that is never cut short.
    case whole
  }

  /// What the stored values mean.
  package enum Meaning: Hashable, Sendable {
    /// Themselves.
    case stored
    /// Integers 0 and 1 are false and true; anything else is itself.
    case truth
    /// Texts are JSON to the formats that are JSON, and texts to the others.
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
