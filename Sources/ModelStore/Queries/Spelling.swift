/// Suggestions for a mistyped name.
package enum Spelling {
  /// Returns the names nearest to `word`, best first, at most three; none when nothing is near.
  ///
  /// A name is near if it differs only in case, or by at most one edit for every three characters,
  /// or if it begins with `word`. An edit adds, removes or replaces a character, or swaps two
  /// neighbours.
  package static func suggestions(for word: String, among names: some Sequence<String>) -> [String]
  {
    let wanted = Array(word.lowercased())
    let limit = max(1, wanted.count / 3)
    var found: [(distance: Int, name: String)] = []
    for name in names {
      let candidate = Array(name.lowercased())
      if abs(candidate.count - wanted.count) <= limit {
        let distance = editDistance(wanted, candidate)
        if distance <= limit && distance < max(wanted.count, candidate.count) {
          found.append((distance, name))
          continue
        }
      }
      if wanted.count >= 2, candidate.starts(with: wanted) { found.append((limit + 1, name)) }
    }
    return found.sorted { ($0.distance, $0.name) < ($1.distance, $1.name) }.prefix(3).map(\.name)
  }

  /// Returns the number of edits between the two. A swap of neighbours counts as one edit.
  private static func editDistance(_ left: [Character], _ right: [Character]) -> Int {
    var beforeLast: [Int] = []
    var last = Array(0...right.count)
    for row in 0..<left.count {
      var current = [row + 1]
      for column in 0..<right.count {
        let replacement = last[column] + (left[row] == right[column] ? 0 : 1)
        var best = min(replacement, last[column + 1] + 1, current[column] + 1)
        if row > 0, column > 0, left[row] == right[column - 1], left[row - 1] == right[column] {
          best = min(best, beforeLast[column - 1] + 1)
        }
        current.append(best)
      }
      (beforeLast, last) = (last, current)
    }
    return last[right.count]
  }
}
