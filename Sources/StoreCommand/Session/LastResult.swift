import ModelStore

/// The keys of the last result, which `$_` names in the next command.
struct LastResult {
  /// The most keys that are kept.
  static let countMax = 1_000

  private(set) var keys: [[SQLValue]]?
  /// The model of the records; nil for an SQL result, which may have keys of any.
  private var model: String?
  private var notedModel: String?
  private var noted: [[SQLValue]] = []
  private var notedCount = 0
  /// Whether the running command has a result, even an empty one.
  private var hasResult = false
  private var count = 0

  /// The running command has a result, which may stay empty.
  ///
  /// - Parameter model: nil for a result that is not of one model.
  mutating func beginResult(of model: String?) {
    hasResult = true
    notedModel = model
  }

  /// Adds a key of the result of the running command.
  mutating func note(_ key: [SQLValue]) {
    hasResult = true
    notedCount += 1
    if noted.count < Self.countMax { noted.append(key) }
  }

  /// Makes what the command noted the last result. A command without a result leaves the one
  /// before.
  mutating func endCommand() {
    if hasResult { (keys, count, model) = (noted, notedCount, notedModel) }
    (noted, notedCount, hasResult, notedModel) = ([], 0, false, nil)
  }

  /// The words of a command: `$_` becomes the keys, and `in $_` within a word a list of them.
  ///
  /// - Throws: ``CommandError`` if there is no result, if it has too many keys, or if keys would
  ///   name records of another model.
  func expanded(_ words: [ShellWords.Word]) throws -> [String] {
    try words.indices.flatMap { place -> [String] in
      let word = words[place]
      if word.isLastResult {
        let keys = try known()
        guard !keys.isEmpty else {
          throw CommandError.usage("The last result has no records, so $_ names no key.")
        }
        // The value of this option is a key of another model: the records that have a list.
        let isNamed =
          place > 0 && words[place - 1].text == "--in"
          || words.contains { $0.text.asciiFolded == model?.asciiFolded }
        if let model, !isNamed {
          throw CommandError.usage("The last result has records of \(model), so $_ names those.")
        }
        return keys.map(KeyText.text)
      }
      return [try expanded(sql: word.text)]
    }
  }

  /// The SQL with each `in $_` as a list of literals.
  ///
  /// - Throws: As ``expanded(_:)``, and for keys of several fields.
  func expanded(sql: String) throws -> String {
    guard sql.contains("$_") else { return sql }
    let tokens = SQLTokens(sql)
    let significant = tokens.significant
    var text = ""
    var end = 0
    for (previous, token) in zip(significant, significant.dropFirst())
    where token.kind == .parameter && tokens.text(token.range) == "$_"
      && tokens.isKeyword(previous, "IN")
    {
      text += tokens.text(end..<token.range.lowerBound) + (try list())
      end = token.range.upperBound
    }
    return text + tokens.text(end..<sql.utf8.count)
  }

  private func list() throws -> String {
    let keys = try known()
    guard keys.allSatisfy({ $0.count == 1 }) else {
      throw CommandError.usage(
        "The keys of the last result have several fields, so $_ cannot be a list. Use it as a word, as in get MODEL $_."
      )
    }
    return "(" + keys.map { $0[0].description }.joined(separator: ", ") + ")"
  }

  private func known() throws -> [[SQLValue]] {
    guard let keys else { throw CommandError.usage("There is no result yet that $_ could name.") }
    guard count <= Self.countMax else {
      throw CommandError.usage(
        "The last result has \(Grouped.text(count)) keys; $_ names at most "
          + "\(Grouped.text(Self.countMax)). Narrow the query, or write its condition again.")
    }
    return keys
  }
}
