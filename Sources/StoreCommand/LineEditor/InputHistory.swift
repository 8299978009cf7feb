/// The inputs that a person can go back to, and the place among them.
struct InputHistory: Sendable {
  /// Oldest first.
  private(set) var entries: [String]
  /// The entry that is shown; nil for the line that was being written.
  private var place: Int?
  /// The line that was being written.
  private var draft = ""
  /// The most entries that are kept.
  private let countMax: Int

  static let countMax = 1_000

  init(_ entries: [String] = [], countMax: Int = InputHistory.countMax) {
    self.entries = Array(entries.suffix(countMax))
    self.countMax = countMax
  }

  /// Adds an input, unless it repeats the last one or begins with a blank.
  ///
  /// - Returns: Whether it was added.
  @discardableResult
  mutating func add(_ text: String) -> Bool {
    leave()
    guard let first = text.first, !first.isWhitespace, entries.last != text else { return false }
    entries.append(text)
    if entries.count > countMax { entries.removeFirst(entries.count - countMax) }
    return true
  }

  /// Forgets the place, so that the next ``older(than:)`` returns the newest entry.
  mutating func leave() {
    place = nil
    draft = ""
  }

  /// Returns the entry before the shown one; nil if there is none.
  mutating func older(than text: String) -> String? {
    let next = (place ?? entries.count) - 1
    guard entries.indices.contains(next) else { return nil }
    if place == nil { draft = text }
    place = next
    return entries[next]
  }

  /// Returns the entry behind the shown one, and the unfinished line behind the last; nil if that
  /// is shown.
  mutating func newer() -> String? {
    guard let shown = place else { return nil }
    guard shown + 1 < entries.count else {
      place = nil
      return draft
    }
    place = shown + 1
    return entries[shown + 1]
  }

  /// Returns the newest entry before `place` that contains `text`, and its place.
  func match(_ text: String, before place: Int) -> (text: String, place: Int)? {
    guard !text.isEmpty else { return nil }
    let found = entries.indices.prefix(max(0, place)).last { entries[$0].contains(text) }
    return found.map { (entries[$0], $0) }
  }
}
