/// The number inside a text, in SQL that every version of SQLite supports.
///
/// The replaced part is from the text's first digit to its last, including everything between them.
/// It includes a sign or point right before it if only a blank or nothing precedes that: `-5 kg`
/// begins with a number, and `No.5` does not. The text is up to date when it contains the same
/// number, blanks around the number included. While the number is NULL, the text is free.
/// `String.replacingNumber(with:)` does the same for one text in Swift.
enum NumberInText {
  /// Returns a condition that is true if the text `field` is not up to date with `value`.
  static func differs(_ field: String, from value: String) -> String {
    """
    (SELECT CASE WHEN n IS NULL THEN 0 WHEN \(isNumber) THEN k <> '' \
    AND NOT (k COLLATE BINARY = j AND instr(t, n) > 0 AND s IN ('', q)) \
    ELSE t COLLATE BINARY IS NOT n END FROM \(parts(field, value)))
    """
  }

  /// Returns the text `field` with `value` in it. Blanks around the value are not added if the text
  /// already has them there. Blanks of another kind are replaced.
  package static func replaced(in field: String, by value: String) -> String {
    """
    (SELECT CASE WHEN n IS NULL THEN t WHEN NOT \(isNumber) THEN n \
    WHEN t IS NULL OR k = '' THEN t \
    ELSE CASE WHEN a = '' OR substr(g, -length(a)) = a THEN g \
    ELSE rtrim(g, \(blanks)) || a END || v \
    || CASE WHEN substr(z, 1, length(c)) = c THEN z ELSE c || ltrim(z, \(blanks)) END \
    END FROM (SELECT *, substr(n, 1, instr(n, v) - 1) AS a, \
    substr(n, instr(n, v) + length(v)) AS c, \
    substr(h, 1, length(h) - CASE WHEN s <> '' THEN length(s) \
    WHEN q <> '' AND substr(h, -length(q)) = q THEN length(q) ELSE 0 END) AS g, \
    CASE WHEN substr(v, -1) = '.' AND substr(r, 1, 1) = '.' THEN substr(r, 2) ELSE r END AS z \
    FROM \(parts(field, value))))
    """
  }

  /// Returns the text from its first digit to its last.
  private static func core(_ text: String) -> String {
    let others = (0...9).reduce(text) { "replace(\($0), '\($1)', '')" }
    return "trim(\(text), \(others)) COLLATE BINARY"
  }

  private static let blanks = "' ' || char(9, 10, 11, 12, 13)"

  /// The parts: `t` is the text, `n` the new value and `v` that without blanks around it. `k` and
  /// `j` are the text and the value from first to last digit. `h` and `r` are the text before and
  /// after that part, `s` its sign and `q` that of the new value. The others are parts of the new
  /// number: `m` before and `x` after the exponent's letter, without signs.
  private static func parts(_ field: String, _ value: String) -> String {
    """
    (SELECT t, n, v, CASE WHEN e > 0 THEN substr(u, 1, e - 1) ELSE u END AS m, \
    CASE WHEN e > 0 THEN \(unsigned("substr(u, e + 1)")) ELSE '0' END AS x, k, j, h, r, q, \
    CASE WHEN substr(h, length(b) + 1) IN ('+', '-', '.', '+.', '-.') \
    AND instr(\(blanks), substr(b, -1)) > 0 THEN substr(h, length(b) + 1) ELSE '' END AS s \
    FROM (SELECT *, rtrim(h, '+-.') AS b, instr(lower(u), 'e') AS e \
    FROM (SELECT t, n, v, k, j, \(unsigned("v")) AS u, substr(t, 1, instr(t, k) - 1) AS h, \
    substr(t, instr(t, k) + length(k)) AS r, substr(v, 1, instr(v, j) - 1) AS q \
    FROM (SELECT t, n, \(core("t")) AS k, \(core("n")) AS j, trim(n, \(blanks)) AS v \
    FROM (SELECT \(field) AS t, \(value) AS n)))))
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
  /// Returns the text with its number replaced by `text`: the part from its first digit to its
  /// last, and a sign or point right before that if only a blank or nothing precedes it. A text
  /// without a digit stays as it is. If `text` is not a number, with or without sign, fraction,
  /// exponent and blanks around it, it replaces the whole. Blanks around the number are kept,
  /// except those that the text has there already.
  ///
  /// `"about 12 pieces".replacingNumber(with: "15")` is `"about 15 pieces"`. A binding can keep the
  /// number up to date in the file for every writer: see ``FieldBinding/replacingOnlyTheNumber()``.
  package func replacingNumber(with text: String) -> String {
    guard let (leading, number, trailing) = text.plainNumber else { return text }
    let digits = unicodeScalars.indices.filter { Self.isDigit(unicodeScalars[$0]) }
    guard let first = digits.first, let last = digits.last else { return self }
    var head = unicodeScalars[..<first]
    var tail = unicodeScalars[unicodeScalars.index(after: last)...]
    let sign = number.prefix { !Self.isDigit($0) }
    var before = head
    while let scalar = before.last, "+-.".unicodeScalars.contains(scalar) { before.removeLast() }
    let own = String(head[before.endIndex...])
    if ["+", "-", ".", "+.", "-."].contains(own), before.last.map(Self.isBlank) ?? true {
      head = before
    } else if head.suffix(sign.count).elementsEqual(sign) {
      head.removeLast(sign.count)
    }
    if number.last == ".", tail.first == "." { tail.removeFirst() }
    if !head.reversed().starts(with: leading.reversed()) {
      while let scalar = head.last, Self.isBlank(scalar) { head.removeLast() }
      head += leading
    }
    if !tail.starts(with: trailing) {
      while let scalar = tail.first, Self.isBlank(scalar) { tail.removeFirst() }
      tail = trailing + tail
    }
    return String(head) + String(number) + String(tail)
  }

  private static func isDigit(_ scalar: Unicode.Scalar) -> Bool { ("0"..."9").contains(scalar) }

  private static func isBlank(_ scalar: Unicode.Scalar) -> Bool {
    [" ", "\t", "\n", "\u{0B}", "\u{0C}", "\r"].contains(scalar)
  }

  private typealias Scalars = Substring.UnicodeScalarView

  /// The decimal number that the text consists of, and the blanks on either side; nil if it is not
  /// a number.
  private var plainNumber: (leading: Scalars, number: Scalars, trailing: Scalars)? {
    var number = unicodeScalars[...]
    while let first = number.first, Self.isBlank(first) { number.removeFirst() }
    while let last = number.last, Self.isBlank(last) { number.removeLast() }
    var rest = number
    func skipSign() {
      if let first = rest.first, first == "+" || first == "-" { rest.removeFirst() }
    }
    func skipDigits() -> Int {
      let digits = rest.prefix(while: Self.isDigit)
      rest = rest[digits.endIndex...]
      return digits.count
    }
    skipSign()
    var count = skipDigits()
    if rest.first == "." {
      rest.removeFirst()
      count += skipDigits()
    }
    guard count > 0 else { return nil }
    if let first = rest.first, first == "e" || first == "E" {
      rest.removeFirst()
      skipSign()
      guard skipDigits() > 0 else { return nil }
    }
    guard rest.isEmpty else { return nil }
    return (
      unicodeScalars[..<number.startIndex], number, unicodeScalars[number.endIndex...]
    )
  }
}
