/// Decimals, which are stored as text, as whole numbers of their smallest unit, in built-in SQL.
///
/// SQLite computes with texts as real numbers, so 0.1 + 0.2 would not be 0.3. Whole numbers are
/// exact up to 64 bits.
enum DecimalSQL {
  /// Numbers of this many digits fit into 64 bits.
  static let maxDigitCount = 18

  /// Returns 10 to the power of `exponent`, at most 18.
  static func power(_ exponent: Int) -> String { "1" + String(repeating: "0", count: exponent) }

  /// Returns the decimal text in `column` times 10 to the power of `scale`.
  ///
  /// It is NULL for NULL, and the real number 0.0 for everything that is not a decimal text of at
  /// most `scale` digits after the point and ``maxDigitCount`` digits and signs in total. A sum
  /// with a real number is a real number, so that no such value is lost in a sum.
  static func scaled(_ column: String, by scale: Int) -> String {
    let fraction =
      "(CASE instr(\(column), '.') WHEN 0 THEN 0 "
      + "ELSE length(\(column)) - instr(\(column), '.') END)"
    let zeros = SQLText.literal(String(repeating: "0", count: scale))
    let digits = "replace(\(column), '.', '') || substr(\(zeros), 1, \(scale) - \(fraction))"
    let isDecimal = [
      "typeof(\(column)) = 'text'",
      "(\(column) GLOB '[0-9]*' OR \(column) GLOB '-[0-9]*')",
      "substr(\(column), 2) NOT GLOB '*[^0-9.]*'", "\(column) NOT GLOB '*.*.*'",
      "\(column) NOT GLOB '*.'", "instr(\(column), char(0)) = 0", "\(fraction) <= \(scale)",
      "length(\(digits)) <= \(maxDigitCount)",
    ]
    return "CASE WHEN \(column) IS NULL THEN NULL WHEN \(isDecimal.joined(separator: " AND ")) "
      + "THEN CAST(\(digits) AS INTEGER) ELSE 0.0 END"
  }

  /// Returns the whole number in `column`, of 10 to the power of `-scale` each, as a decimal text
  /// in the one spelling that ``FieldType/decimal`` has.
  static func text(of column: String, scale: Int) -> String {
    guard scale > 0 else { return "CAST(\(column) AS TEXT)" }
    let unit = power(scale)
    let zeros = SQLText.literal(String(repeating: "0", count: scale))
    let fraction = "substr(\(zeros) || (abs(\(column)) % \(unit)), -\(scale))"
    return "(CASE WHEN \(column) < 0 THEN '-' ELSE '' END || (abs(\(column)) / \(unit)) || "
      + "rtrim(rtrim('.' || \(fraction), '0'), '.'))"
  }
}
