/// Finds the names a mistyped word was probably meant to be. It suggests; nothing runs a
/// suggestion.
enum NearMiss {
  /// Returns the candidates close to `word`, nearest first, ties in the order given.
  ///
  /// Letter case costs nothing. A candidate is close when at most a third of the longer word's
  /// letters differ, but always when one does and never when more than three do; a candidate that
  /// `word` abbreviates with at least two letters counts as one edit away.
  static func suggestions(
    for word: String, among candidates: some Sequence<String>, limit: Int = 3
  ) -> [String] {
    let letters = Array(word.lowercased())
    guard !letters.isEmpty else { return [] }
    var close: [(name: String, distance: Int)] = []
    for candidate in candidates where candidate != word {
      let other = Array(candidate.lowercased())
      let longer = max(letters.count, other.count)
      let distanceMax = min(3, max(1, longer / 3))
      let isAbbreviation = letters.count >= 2 && other.starts(with: letters)
      let measured = distance(letters, other)
      let distance = isAbbreviation ? min(measured, 1) : measured
      // Two one-letter words always differ by one edit, so they are not similar.
      let sharesNothing = distance >= longer
      if distance <= distanceMax && !sharesNothing {
        close.append((candidate, distance))
      }
    }
    let ranked = close.enumerated().sorted {
      ($0.element.distance, $0.offset) < ($1.element.distance, $1.offset)
    }
    return ranked.prefix(limit).map(\.element.name)
  }

  /// The Damerau-Levenshtein distance: the fewest insertions, deletions, replacements and swaps of
  /// neighbours that turn one sequence into the other, edits between swapped letters included.
  ///
  /// - Complexity: O(m · n) time and memory.
  static func distance<Letter: Hashable>(_ first: [Letter], _ second: [Letter]) -> Int {
    let width = second.count + 2
    let unreachable = first.count + second.count
    var costs = [Int](repeating: unreachable, count: (first.count + 2) * width)
    for row in 0...first.count { costs[(row + 1) * width + 1] = row }
    for column in 0...second.count { costs[width + column + 1] = column }
    var lastRow: [Letter: Int] = [:]
    for (row, letter) in zip(1..., first) {
      var lastColumn = 0
      for (column, other) in zip(1..., second) {
        let matchRow = lastRow[other, default: 0]
        let matchColumn = lastColumn
        let replaced = costs[row * width + column] + (letter == other ? 0 : 1)
        let inserted = costs[(row + 1) * width + column] + 1
        let deleted = costs[row * width + column + 1] + 1
        let swapped =
          costs[matchRow * width + matchColumn]
          + (row - matchRow - 1) + 1 + (column - matchColumn - 1)
        costs[(row + 1) * width + column + 1] = min(replaced, inserted, deleted, swapped)
        if letter == other { lastColumn = column }
      }
      lastRow[letter] = row
    }
    return costs[(first.count + 1) * width + second.count + 1]
  }
}
