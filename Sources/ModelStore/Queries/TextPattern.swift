/// A LIKE or GLOB pattern, compiled to match as SQLite's own functions do:
/// <https://sqlite.org/lang_expr.html#like>.
struct TextPattern: Sendable {
  enum Syntax {
    /// `%` and `_`; the 26 ASCII letters match in either case.
    case like
    /// `*`, `?` and `[...]`; case-sensitive.
    case glob
  }

  private enum Token {
    case one(UInt32)
    case anyOne
    case anyRun
    case set([ClosedRange<UInt32>], isInverted: Bool)
    /// A set without its closing bracket.
    case never
  }

  private let tokens: [Token]
  private let foldsCase: Bool

  /// - Returns: nil for a pattern that is too long for SQLite:
  ///   ``ConnectionSafety/patternByteCountMax``.
  init?(_ pattern: String, syntax: Syntax) {
    if pattern.utf8.count > ConnectionSafety.patternByteCountMax { return nil }
    let folds = syntax == .like
    foldsCase = folds
    let (run, single): (Unicode.Scalar, Unicode.Scalar) = folds ? ("%", "_") : ("*", "?")
    var tokens: [Token] = []
    var rest = Self.characters(of: pattern)[...]
    while let character = rest.popFirst() {
      if character == run.value {
        tokens.append(.anyRun)
      } else if character == single.value {
        tokens.append(.anyOne)
      } else if character == 0x5B, syntax == .glob {
        tokens.append(Self.takeSet(from: &rest))
      } else {
        tokens.append(.one(folds ? Self.folded(character) : character))
      }
    }
    self.tokens = tokens
  }

  /// Reads a set after its opening bracket. A `]` in the first place is an ordinary member. A `-`
  /// that begins or ends the set, or follows a range, is an ordinary member too.
  private static func takeSet(from rest: inout ArraySlice<UInt32>) -> Token {
    var ranges: [ClosedRange<UInt32>] = []
    var isInverted = false
    if rest.first == 0x5E {
      isInverted = true
      rest.removeFirst()
    }
    if rest.first == 0x5D {
      ranges.append(0x5D...0x5D)
      rest.removeFirst()
    }
    var previous: UInt32?
    while let character = rest.popFirst() {
      if character == 0x5D { return .set(ranges, isInverted: isInverted) }
      if character == 0x2D, let start = previous, let end = rest.first, end != 0x5D {
        rest.removeFirst()
        if start <= end { ranges.append(start...end) }
        previous = nil
      } else {
        ranges.append(character...character)
        previous = character
      }
    }
    return .never
  }

  func matches(_ text: String) -> Bool {
    let characters = Self.characters(of: text)
    var (token, position) = (0, 0)
    // Only the latest run may take more characters. An earlier one would shift text that already
    // matched.
    var retry: (token: Int, position: Int)?
    while true {
      if token < tokens.count {
        if case .anyRun = tokens[token] {
          token += 1
          retry = (token, position)
          continue
        }
        if position < characters.count, accepts(tokens[token], characters[position]) {
          token += 1
          position += 1
          continue
        }
      } else if position == characters.count {
        return true
      }
      guard let latest = retry, latest.position < characters.count else { return false }
      retry = (latest.token, latest.position + 1)
      (token, position) = (latest.token, latest.position + 1)
    }
  }

  private func accepts(_ token: Token, _ character: UInt32) -> Bool {
    switch token {
    case .one(let wanted): wanted == (foldsCase ? Self.folded(character) : character)
    case .anyOne: true
    case .set(let ranges, let isInverted):
      ranges.contains { $0.contains(character) } != isInverted
    case .anyRun, .never: false
    }
  }

  private static func folded(_ character: UInt32) -> UInt32 {
    (0x41...0x5A).contains(character) ? character + 0x20 : character
  }

  /// Returns the code points before the first NUL, with U+FFFE and U+FFFF read as U+FFFD. SQLite's
  /// functions take C strings, and its UTF-8 reader replaces both.
  private static func characters(of text: String) -> [UInt32] {
    text.unicodeScalars.prefix { $0.value != 0 }
      .map { $0.value & 0xFFFF_FFFE == 0xFFFE ? 0xFFFD : $0.value }
  }
}
