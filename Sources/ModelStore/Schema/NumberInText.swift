/// The number inside a text, in SQL that every SQLite knows.
///
/// What is replaced reaches from the text's first digit to its last, whatever stands between them;
/// that it occurs once follows. So the text follows a number as soon as the two agree there, and
/// replacing again would change nothing. ``Swift/String/replacingNumber(with:)`` is the same for
/// one text in Swift.
enum NumberInText {
  /// True where the text `field` does not follow `value`.
  static func differs(_ field: String, from value: String) -> String {
    """
    (SELECT CASE WHEN \(isNumber) THEN \(core("t")) <> '' \
    AND NOT (\(core("t")) = \(core("n")) AND instr(t, n) > 0) \
    ELSE t COLLATE BINARY IS NOT n END FROM \(parts(field, value)))
    """
  }

  /// The text `field` after `value` was put into it.
  static func replaced(in field: String, by value: String) -> String {
    """
    (SELECT CASE WHEN NOT \(isNumber) THEN n WHEN t IS NULL OR \(core("t")) = '' THEN t \
    ELSE replace(t, \(core("t")), n) END FROM \(parts(field, value)))
    """
  }

  /// The text without what is before its first and behind its last digit.
  private static func core(_ text: String) -> String {
    let others = (0...9).reduce(text) { "replace(\($0), '\($1)', '')" }
    return "trim(\(text), \(others)) COLLATE BINARY"
  }

  private static let blanks = "' ' || char(9, 10, 11, 12, 13)"

  /// `t` is the text, `n` the new value, and the others are the number's parts: `m` before and `x`
  /// behind the exponent's letter, without signs.
  private static func parts(_ field: String, _ value: String) -> String {
    """
    (SELECT t, n, CASE WHEN e > 0 THEN substr(u, 1, e - 1) ELSE u END AS m, \
    CASE WHEN e > 0 THEN \(unsigned("substr(u, e + 1)")) ELSE '0' END AS x \
    FROM (SELECT t, n, u, instr(lower(u), 'e') AS e \
    FROM (SELECT t, n, \(unsigned("s")) AS u \
    FROM (SELECT t, n, trim(n, \(blanks)) AS s FROM (SELECT \(field) AS t, \(value) AS n)))))
    """
  }

  private static func unsigned(_ text: String) -> String {
    "CASE WHEN substr(\(text), 1, 1) IN ('+', '-') THEN substr(\(text), 2) ELSE \(text) END"
  }

  private static let isNumber = """
    (typeof(n) = 'text' AND m GLOB '*[0-9]*' AND m NOT GLOB '*[^0-9.]*' \
    AND length(m) - length(replace(m, '.', '')) <= 1 \
    AND x GLOB '*[0-9]*' AND x NOT GLOB '*[^0-9]*')
    """
}

extension String {
  /// The text with the number in it replaced by `text`: what stands from its first digit to its
  /// last. A text without a digit stays as it is. What is no number itself, with or without sign,
  /// fraction, exponent and blanks around it, replaces the whole.
  ///
  /// `"about 12 pieces".replacingNumber(with: "15")` is `"about 15 pieces"`. The number can stand
  /// in the file that way for every writer: see ``Binding/replacingOnlyTheNumber()``.
  public func replacingNumber(with text: String) -> String {
    guard text.isPlainNumber else { return text }
    let digits = unicodeScalars.indices.filter { ("0"..."9").contains(unicodeScalars[$0]) }
    guard let first = digits.first, let last = digits.last else { return self }
    return String(unicodeScalars[..<first]) + text
      + String(unicodeScalars[unicodeScalars.index(after: last)...])
  }

  /// Whether the text is one decimal number and nothing else but blanks around it.
  private var isPlainNumber: Bool {
    let blanks: Set<Unicode.Scalar> = [" ", "\t", "\n", "\u{0B}", "\u{0C}", "\r"]
    var rest = unicodeScalars[...]
    while let first = rest.first, blanks.contains(first) { rest.removeFirst() }
    while let last = rest.last, blanks.contains(last) { rest.removeLast() }
    func skipSign() {
      if let first = rest.first, first == "+" || first == "-" { rest.removeFirst() }
    }
    func skipDigits() -> Int {
      let digits = rest.prefix { ("0"..."9").contains($0) }
      rest = rest[digits.endIndex...]
      return digits.count
    }
    skipSign()
    var count = skipDigits()
    if rest.first == "." {
      rest.removeFirst()
      count += skipDigits()
    }
    guard count > 0 else { return false }
    if let first = rest.first, first == "e" || first == "E" {
      rest.removeFirst()
      skipSign()
      guard skipDigits() > 0 else { return false }
    }
    return rest.isEmpty
  }
}
