/// A text as a key that is equal to another when their bytes are, as in SQLite. A `String` is also
/// equal to canonically equivalent texts with other bytes.
package struct ExactText: Hashable {
  @usableFromInline package let text: String

  @inlinable package init(_ text: String) {
    self.text = text
  }

  @inlinable package static func == (left: ExactText, right: ExactText) -> Bool {
    left.text.isExactly(right.text)
  }

  /// Texts of the same bytes are equal to Swift too, so they hash alike.
  @inlinable package func hash(into hasher: inout Hasher) {
    hasher.combine(text)
  }
}
