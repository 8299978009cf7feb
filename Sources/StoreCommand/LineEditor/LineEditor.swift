/// The editor of one input: keys in, text and cursor out. It is a pure state machine: it reads no
/// terminal and draws nothing.
///
/// ```
/// editing ──Ctrl-R──> searching ──Enter──> accepted
///    │ ^                 │
///    │ └──any other key──┘
///    └──Enter, if the input is finished──> accepted
/// ```
struct LineEditor {
  /// What a key led to.
  enum Outcome: Equatable {
    case editing
    /// The input is finished.
    case accepted(String)
    /// Ctrl-C discarded the input.
    case cleared
    /// Ctrl-D on an empty input.
    case ended
    /// The word before the cursor is to be completed.
    case completing
    case clearsScreen
    case suspended
  }

  /// A search through the history.
  struct Search: Equatable {
    fileprivate(set) var query = ""
    /// Whether the query was found.
    fileprivate(set) var hasMatch = true
    fileprivate var place: Int
    fileprivate let original: LineText
  }

  private(set) var line = LineText()
  private(set) var history: InputHistory
  /// nil unless Ctrl-R began a search.
  private(set) var search: Search?
  private var killed = ""
  /// Whether an input lacks its end, so that Enter begins another line.
  private let isUnfinished: @Sendable (String) -> Bool

  init(
    history: InputHistory = InputHistory(), isUnfinished: @escaping @Sendable (String) -> Bool
  ) {
    self.history = history
    self.isUnfinished = isUnfinished
  }

  /// Applies a key.
  mutating func take(_ key: Key) -> Outcome {
    if search != nil, let outcome = searching(key) { return outcome }
    switch key {
    case .enter:
      guard !isUnfinished(line.text) else {
        line = LineText(line.text + "\n")
        return .editing
      }
      return accept()
    case .interrupt:
      clear()
      return .cleared
    case .deleteOrEnd:
      guard !line.isEmpty else { return .ended }
      line.deleteRight()
    case .tab: return .completing
    case .clearScreen: return .clearsScreen
    case .suspend: return .suspended
    case .search:
      search = Search(place: history.entries.count, original: line)
    case .up: if !line.moveUp(), let text = history.older(than: line.text) { line = LineText(text) }
    case .down: if !line.moveDown(), let text = history.newer() { line = LineText(text) }
    case .killToStart: kill { $0.killToLineStart() }
    case .killToEnd: kill { $0.killToLineEnd() }
    case .killWordLeft: kill { $0.killWordLeft() }
    case .killWordRight: kill { $0.killWordRight() }
    case .yank: line.insert(killed)
    default: edit(key)
    }
    return .editing
  }

  /// Replaces the last characters before the cursor, as a completion does.
  mutating func complete(last count: Int, with text: String) {
    line.replace(last: count, with: text)
  }

  private mutating func edit(_ key: Key) {
    switch key {
    case .text(let text), .paste(let text): line.insert(text)
    case .newLine: line.insert("\n")
    case .left: line.moveLeft()
    case .right: line.moveRight()
    case .wordLeft: line.moveWordLeft()
    case .wordRight: line.moveWordRight()
    case .home: line.moveToLineStart()
    case .end: line.moveToLineEnd()
    case .backspace: line.deleteLeft()
    case .delete: line.deleteRight()
    default: break
    }
  }

  private mutating func kill(_ delete: (inout LineText) -> String) {
    let text = delete(&line)
    // A key that deletes nothing leaves what can be yanked.
    if !text.isEmpty { killed = text }
  }

  private mutating func accept() -> Outcome {
    let text = line.text
    history.add(text)
    line = LineText()
    return .accepted(text)
  }

  private mutating func clear() {
    line = LineText()
    history.leave()
  }

  /// Applies a key to the search. Returns nil if the key ends the search and is then to be applied
  /// to the line that was found.
  private mutating func searching(_ key: Key) -> Outcome? {
    guard var state = search else { return nil }
    switch key {
    case .text(let text), .paste(let text):
      state.query += text
      find(in: &state, before: min(state.place + 1, history.entries.count))
    case .backspace:
      _ = state.query.popLast()
      find(in: &state, before: history.entries.count)
    case .search: find(in: &state, before: state.place)
    case .cancel, .interrupt:
      line = state.original
      search = nil
      return .editing
    case .enter:
      search = nil
      return nil
    default:
      search = nil
      return nil
    }
    search = state
    return .editing
  }

  private mutating func find(in state: inout Search, before place: Int) {
    guard !state.query.isEmpty else {
      (state.hasMatch, state.place) = (true, history.entries.count)
      line = state.original
      return
    }
    guard let match = history.match(state.query, before: place) else {
      state.hasMatch = false
      return
    }
    (state.hasMatch, state.place) = (true, match.place)
    line = LineText(match.text)
  }
}
