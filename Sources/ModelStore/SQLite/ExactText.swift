/// A text as a key: equal to another when their bytes are, as in SQLite. Not a `String`, which is
/// also equal to texts that mean the same characters in other bytes.
struct ExactText: Hashable {
  let text: String

  init(_ text: String) {
    self.text = text
  }

  static func == (left: ExactText, right: ExactText) -> Bool {
    left.text.isExactly(right.text)
  }

  /// Texts of the same bytes are equal to Swift too, so they hash alike.
  func hash(into hasher: inout Hasher) {
    hasher.combine(text)
  }
}
