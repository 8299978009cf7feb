/// The text that is edited, and the cursor in it. It may have several lines.
struct LineText: Hashable, Sendable {
  /// The text before the cursor.
  private(set) var before = ""
  /// The text behind the cursor.
  private(set) var after = ""

  /// - Parameter text: The text; the cursor is at its end.
  init(_ text: String = "") { before = text }

  var text: String { before + after }

  var isEmpty: Bool { before.isEmpty && after.isEmpty }

  mutating func insert(_ text: String) { before += text }

  /// Replaces the last characters before the cursor.
  mutating func replace(last count: Int, with text: String) {
    before.removeLast(min(count, before.count))
    before += text
  }

  // Moving

  mutating func moveLeft() {
    if let character = before.popLast() { after.insert(character, at: after.startIndex) }
  }

  mutating func moveRight() {
    if let character = after.first {
      after.removeFirst()
      before.append(character)
    }
  }

  mutating func moveWordLeft() {
    let kept = Self.withoutLastWord(before)
    after = before[kept.endIndex...] + after
    before = String(kept)
  }

  mutating func moveWordRight() {
    let rest = Self.withoutFirstWord(after)
    before += after[..<rest.startIndex]
    after = String(rest)
  }

  /// Moves to the start of the line that the cursor is in.
  mutating func moveToLineStart() {
    let line = lineBefore
    after = line + after
    before.removeLast(line.count)
  }

  /// Moves to the end of the line that the cursor is in.
  mutating func moveToLineEnd() {
    let line = lineAfter
    before += line
    after.removeFirst(line.count)
  }

  /// Moves to the line above.
  ///
  /// - Returns: Whether there is one.
  mutating func moveUp() -> Bool {
    let column = lineBefore.count
    guard let end = before.lastIndex(of: "\n") else { return false }
    after = before[end...] + after
    before = String(before[..<end])
    let surplus = lineBefore.count - column
    if surplus > 0 { for _ in 0..<surplus { moveLeft() } }
    return true
  }

  /// Moves to the line below.
  ///
  /// - Returns: Whether there is one.
  mutating func moveDown() -> Bool {
    let column = lineBefore.count
    guard let end = after.firstIndex(of: "\n") else { return false }
    before += after[...end]
    after = String(after[after.index(after: end)...])
    for _ in 0..<min(column, lineAfter.count) { moveRight() }
    return true
  }

  // Deleting. Each returns the deleted text.

  mutating func deleteLeft() { _ = before.popLast() }

  mutating func deleteRight() { if !after.isEmpty { after.removeFirst() } }

  /// Deletes to the start of the line, or the line end before it.
  mutating func killToLineStart() -> String {
    let line = lineBefore.isEmpty && !before.isEmpty ? "\n" : lineBefore
    before.removeLast(line.count)
    return line
  }

  /// Deletes to the end of the line, or the line end behind it.
  mutating func killToLineEnd() -> String {
    let line = lineAfter.isEmpty && !after.isEmpty ? "\n" : lineAfter
    after.removeFirst(line.count)
    return line
  }

  mutating func killWordLeft() -> String {
    let kept = Self.withoutLastWord(before)
    let killed = String(before[kept.endIndex...])
    before = String(kept)
    return killed
  }

  mutating func killWordRight() -> String {
    let rest = Self.withoutFirstWord(after)
    let killed = String(after[..<rest.startIndex])
    after = String(rest)
    return killed
  }

  private var lineBefore: String {
    String(before[(before.lastIndex(of: "\n").map(before.index(after:)) ?? before.startIndex)...])
  }

  private var lineAfter: String { String(after.prefix { $0 != "\n" }) }

  private static func withoutLastWord(_ text: String) -> Substring {
    var rest = text[...]
    while let last = rest.last, !isInWord(last) { rest.removeLast() }
    while let last = rest.last, isInWord(last) { rest.removeLast() }
    return rest
  }

  private static func withoutFirstWord(_ text: String) -> Substring {
    text.drop { !isInWord($0) }.drop { isInWord($0) }
  }

  private static func isInWord(_ character: Character) -> Bool {
    character.isLetter || character.isNumber || character == "_"
  }
}
