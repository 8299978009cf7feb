/// The number of terminal cells that a text takes: none for combining marks, two for East Asian
/// wide characters and emoji.
///
/// Terminals disagree about rare clusters. This follows the terminals that draw an emoji sequence
/// as one picture of two cells. Escape control characters first; here they take no cell.
package enum DisplayWidth {
  /// Returns the number of cells that `text` takes on one line.
  package static func of(_ text: some StringProtocol) -> Int {
    let isPrintableASCII = text.utf8.allSatisfy { (0x20..<0x7F).contains($0) }
    return isPrintableASCII ? text.utf8.count : text.reduce(0) { $0 + of($1) }
  }

  /// Returns the longest prefix of `text` that fits in `width` cells together with an ellipsis, and
  /// the ellipsis. Returns `text` itself when it fits.
  ///
  /// - Complexity: Reads only the part of `text` that fits.
  package static func truncated(_ text: String, to width: Int) -> String {
    var end = text.startIndex
    var used = 0
    for index in text.indices {
      used += of(text[index])
      if used > width { return width > 0 ? String(text[..<end]) + ellipsis : "" }
      if used <= width - 1 { end = text.index(after: index) }
    }
    return text
  }

  static let ellipsis = "\u{2026}"

  /// Returns the number of cells of one grapheme cluster.
  static func of(_ character: Character) -> Int {
    let scalars = character.unicodeScalars
    guard let first = scalars.first, scalars.count > 1 else {
      return scalars.reduce(0) { $0 + of($1) }
    }
    if scalars.contains(where: { showsEmoji($0) }) && first.properties.isEmoji { return 2 }
    let isJoinedEmoji = of(first) == 2 && scalars.contains("\u{200D}")
    return isJoinedEmoji ? 2 : scalars.reduce(0) { $0 + of($1) }
  }

  /// Returns the number of cells of one scalar on its own.
  static func of(_ scalar: Unicode.Scalar) -> Int {
    let value = scalar.value
    if value < 0x20 || (0x7F..<0xA0).contains(value) { return 0 }
    if value < 0x300 { return 1 }
    // Medial and final Hangul Jamo are drawn within the cells of the initial one.
    if (0x1160...0x11FF).contains(value) || (0xD7B0...0xD7FF).contains(value) { return 0 }
    switch scalar.properties.generalCategory {
    case .nonspacingMark, .enclosingMark, .format: return 0
    default: return isWide(value) ? 2 : 1
    }
  }

  /// Returns whether `scalar` makes its cluster an emoji: emoji presentation, a skin tone, half of
  /// a flag.
  private static func showsEmoji(_ scalar: Unicode.Scalar) -> Bool {
    switch scalar.value {
    case 0xFE0F, 0x1F3FB...0x1F3FF, 0x1F1E6...0x1F1FF: true
    default: false
    }
  }

  private static func isWide(_ value: UInt32) -> Bool {
    var low = 0
    var high = wideRanges.count
    while low < high {
      let middle = (low + high) / 2
      if value > wideRanges[middle].last { low = middle + 1 } else { high = middle }
    }
    return low < wideRanges.count && value >= wideRanges[low].first
  }

  /// The W and F ranges of EastAsianWidth.txt, joined across unassigned code points.
  /// https://www.unicode.org/reports/tr11/
  private static let wideRanges: [(first: UInt32, last: UInt32)] = [
    (0x1100, 0x115F), (0x231A, 0x231B), (0x2329, 0x232A), (0x23E9, 0x23EC), (0x23F0, 0x23F0),
    (0x23F3, 0x23F3), (0x25FD, 0x25FE), (0x2614, 0x2615), (0x2648, 0x2653), (0x267F, 0x267F),
    (0x2693, 0x2693), (0x26A1, 0x26A1), (0x26AA, 0x26AB), (0x26BD, 0x26BE), (0x26C4, 0x26C5),
    (0x26CE, 0x26CE), (0x26D4, 0x26D4), (0x26EA, 0x26EA), (0x26F2, 0x26F3), (0x26F5, 0x26F5),
    (0x26FA, 0x26FA), (0x26FD, 0x26FD), (0x2705, 0x2705), (0x270A, 0x270B), (0x2728, 0x2728),
    (0x274C, 0x274C), (0x274E, 0x274E), (0x2753, 0x2755), (0x2757, 0x2757), (0x2795, 0x2797),
    (0x27B0, 0x27B0), (0x27BF, 0x27BF), (0x2B1B, 0x2B1C), (0x2B50, 0x2B50), (0x2B55, 0x2B55),
    (0x2E80, 0x303E), (0x3041, 0x3247), (0x3250, 0x4DBF), (0x4E00, 0xA4C6), (0xA960, 0xA97C),
    (0xAC00, 0xD7A3), (0xF900, 0xFAFF), (0xFE10, 0xFE19), (0xFE30, 0xFE6B), (0xFF01, 0xFF60),
    (0xFFE0, 0xFFE6), (0x16FE0, 0x1B2FB), (0x1F004, 0x1F004), (0x1F0CF, 0x1F0CF),
    (0x1F18E, 0x1F18E), (0x1F191, 0x1F19A), (0x1F200, 0x1F320), (0x1F32D, 0x1F335),
    (0x1F337, 0x1F37C), (0x1F37E, 0x1F393), (0x1F3A0, 0x1F3CA), (0x1F3CF, 0x1F3D3),
    (0x1F3E0, 0x1F3F0), (0x1F3F4, 0x1F3F4), (0x1F3F8, 0x1F43E), (0x1F440, 0x1F440),
    (0x1F442, 0x1F4FC), (0x1F4FF, 0x1F53D), (0x1F54B, 0x1F54E), (0x1F550, 0x1F567),
    (0x1F57A, 0x1F57A), (0x1F595, 0x1F596), (0x1F5A4, 0x1F5A4), (0x1F5FB, 0x1F64F),
    (0x1F680, 0x1F6C5), (0x1F6CC, 0x1F6CC), (0x1F6D0, 0x1F6D2), (0x1F6D5, 0x1F6DF),
    (0x1F6EB, 0x1F6EC), (0x1F6F4, 0x1F6FC), (0x1F7E0, 0x1F7F0), (0x1F90C, 0x1F93A),
    (0x1F93C, 0x1F945), (0x1F947, 0x1F9FF), (0x1FA70, 0x1FAFF), (0x20000, 0x3FFFD),
  ]
}
