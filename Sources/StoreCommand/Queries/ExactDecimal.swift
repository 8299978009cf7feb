/// A decimal number of any size, exact: for sums of many decimals, which have more digits than any
/// of them.
struct ExactDecimal: Hashable, Sendable {
  /// The number is the sum of each block times 10 to the power of nine times its place. Blocks are
  /// not carried until the number is read.
  private var blocks: [Int: Int128] = [:]

  /// Zero.
  init() {}

  /// - Returns: nil unless `text` is digits with an optional sign and fraction.
  init?(_ text: String) {
    let sign: Int128 = text.hasPrefix("-") ? -1 : 1
    let unsigned = text.hasPrefix("-") || text.hasPrefix("+") ? text.dropFirst() : text[...]
    let parts = unsigned.split(separator: ".", omittingEmptySubsequences: false)
    guard (1...2).contains(parts.count),
      parts.allSatisfy({ !$0.isEmpty && $0.utf8.allSatisfy { (0x30...0x39).contains($0) } })
    else { return nil }
    var whole = Array(parts[0].utf8)
    var place = 0
    while !whole.isEmpty {
      blocks[place] = sign * Self.number(whole.suffix(Self.digitCount))
      whole.removeLast(min(Self.digitCount, whole.count))
      place += 1
    }
    guard parts.count == 2 else { return }
    var fraction = Array(parts[1].utf8)
    place = -1
    while !fraction.isEmpty {
      let digits = fraction.prefix(Self.digitCount)
      let padding = [UInt8](repeating: 0x30, count: Self.digitCount - digits.count)
      blocks[place] = sign * Self.number(digits + padding)
      fraction.removeFirst(digits.count)
      place -= 1
    }
  }

  /// The shortest decimal number that reads back as `number`.
  ///
  /// - Returns: nil for infinity.
  init?(_ number: Double) {
    guard number.isFinite else { return nil }
    let parts = number.magnitude.description.split(separator: "e")
    guard let mantissa = parts.first, let exponent = parts.count > 1 ? Int(parts[1]) : 0 else {
      return nil
    }
    let halves = mantissa.split(separator: ".")
    let digits = halves.joined()
    // Where the point is among the digits.
    let place = (halves.first?.count ?? 0) + exponent
    let padded =
      String(repeating: "0", count: max(1 - place, 0)) + digits
      + String(repeating: "0", count: max(place - digits.count, 0))
    let whole = padded.prefix(max(place, 1))
    let fraction = padded.dropFirst(whole.count)
    self.init((number < 0 ? "-" : "") + whole + (fraction.isEmpty ? "" : "." + fraction))
  }

  private static let digitCount = 9
  private static let base: Int128 = 1_000_000_000

  private static func number(_ digits: some Sequence<UInt8>) -> Int128 {
    digits.reduce(0) { $0 * 10 + Int128($1 - 0x30) }
  }

  /// Adds `other` as often as `count` says.
  mutating func add(_ other: ExactDecimal, times count: Int64 = 1) {
    for (place, block) in other.blocks { blocks[place, default: 0] += block * Int128(count) }
  }

  /// The sign, and the blocks of the magnitude from the lowest place on, each from 0 to 999 999
  /// 999.
  private var carried: (isNegative: Bool, lowest: Int, blocks: [Int128]) {
    let lowest = min(blocks.keys.min() ?? 0, 0)
    let highest = max(blocks.keys.max() ?? 0, 0)
    func carried(sign: Int128) -> (blocks: [Int128], rest: Int128) {
      var carry: Int128 = 0
      var digits: [Int128] = []
      // A block has at most 38 digits, so it reaches four further places.
      for place in lowest...(highest + 5) {
        let total = sign * (blocks[place] ?? 0) + carry
        let rest = (total % Self.base + Self.base) % Self.base
        digits.append(rest)
        carry = (total - rest) / Self.base
      }
      return (digits, carry)
    }
    let positive = carried(sign: 1)
    return positive.rest < 0
      ? (true, lowest, carried(sign: -1).blocks) : (false, lowest, positive.blocks)
  }

  /// The number without needless zeros.
  var text: String {
    let (isNegative, lowest, blocks) = carried
    return Self.text(isNegative, lowest: lowest, blocks)
  }

  private static func text(_ isNegative: Bool, lowest: Int, _ blocks: [Int128]) -> String {
    func padded(_ block: Int128) -> String {
      let digits = String(block)
      return String(repeating: "0", count: digitCount - digits.count) + digits
    }
    let whole = blocks.dropFirst(-lowest).reversed().map(padded).joined().drop { $0 == "0" }
    var fraction = blocks.prefix(-lowest).reversed().map(padded).joined()
    while fraction.last == "0" { fraction.removeLast() }
    let text = (whole.isEmpty ? "0" : String(whole)) + (fraction.isEmpty ? "" : "." + fraction)
    return isNegative ? "-" + text : text
  }

  /// The number divided by `count`, which is 1 or more. Exact, or rounded to at least nine digits
  /// more than the number has behind its point.
  func quotientText(by count: Int64) -> String {
    let (isNegative, lowest, blocks) = carried
    var remainder: Int128 = 0
    var quotient: [Int128] = []
    // Two places more than the number has; the last one only decides how the other is rounded.
    for block in blocks.reversed() + [0, 0] {
      remainder = remainder * Self.base + block
      quotient.append(remainder / Int128(count))
      remainder %= Int128(count)
    }
    let last = quotient.removeLast()
    if last >= Self.base / 2 {
      var place = quotient.count - 1
      while place >= 0 {
        quotient[place] += 1
        guard quotient[place] == Self.base else { break }
        quotient[place] = 0
        place -= 1
      }
    }
    return Self.text(isNegative, lowest: lowest - 1, quotient.reversed())
  }

  /// Whether this number is smaller than `other`.
  func isLess(than other: ExactDecimal) -> Bool {
    var difference = self
    difference.add(other, times: -1)
    return difference.carried.isNegative
  }

  static func == (left: ExactDecimal, right: ExactDecimal) -> Bool { left.text == right.text }

  func hash(into hasher: inout Hasher) { hasher.combine(text) }
}
