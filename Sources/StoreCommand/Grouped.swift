/// Whole numbers for a person: `1 204`, digits in groups of three.
enum Grouped {
  static func text(_ number: Int) -> String {
    let digits = Array(String(number.magnitude))
    var text = number < 0 ? "-" : ""
    for (index, digit) in digits.enumerated() {
      if index > 0, (digits.count - index).isMultiple(of: 3) { text += " " }
      text.append(digit)
    }
    return text
  }

  /// `1 record`, `1 204 records`.
  static func text(_ number: Int, _ singular: String, _ plural: String? = nil) -> String {
    "\(text(number)) \(number == 1 ? singular : plural ?? singular + "s")"
  }
}
