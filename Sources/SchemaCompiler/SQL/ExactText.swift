/// A text as a key: equal to another when their bytes are, as in SQLite. Not a `String`, which is
/// also equal to texts that mean the same characters in other bytes.
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
