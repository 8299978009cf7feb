import RecordFormats

/// What may stand for the word before the cursor of a prompt.
struct CompletedInput: Equatable {
  /// The word as it is written.
  let word: String
  /// The words that may stand there, quoted as the input needs them.
  let candidates: [String]

  init(word: String = "", candidates: [String] = []) {
    self.word = word
    self.candidates = candidates
  }

  /// What to write for the word: the only candidate with a blank behind it, or the beginning that
  /// all have in common. nil if that is what is written already.
  var extended: String? {
    guard let first = candidates.first else { return nil }
    guard candidates.count > 1 else {
      // A field to assign ends with `=`, and its value follows without a blank.
      return first.last.map { "=,/".contains($0) } ?? false ? first : first + " "
    }
    let common = candidates.dropFirst().reduce(first) { common, next in
      String(zip(common, next).prefix { $0 == $1 }.map(\.0))
    }
    return common.count > word.count ? common : nil
  }

  /// The most candidates that are listed.
  static let listedCountMax = 100

  /// The candidates as rows of columns.
  static func columns(_ candidates: [String], width: Int) -> String {
    let shown = candidates.prefix(listedCountMax).map { CellText.visible($0) }
    let cell = (shown.map { DisplayWidth.of($0) }.max() ?? 0) + 2
    let count = max(1, width / cell)
    var rows: [String] = []
    for start in stride(from: 0, to: shown.count, by: count) {
      let row = shown[start..<min(shown.count, start + count)]
      rows.append(
        row.map { $0 + String(repeating: " ", count: cell - DisplayWidth.of($0)) }.joined())
    }
    let rest = candidates.count - shown.count
    if rest > 0 { rows.append("and \(Grouped.text(rest)) more") }
    return rows.map { row in
      var row = row[...]
      while row.last == " " { row.removeLast() }
      return row + "\r\n"
    }.joined()
  }
}
