/// The order of two values after conversion, as SQLite compares them: NULL, then numbers, then
/// text, then blobs. See <https://sqlite.org/datatype3.html#sort_order>.
package struct ValueOrder: Sendable {
  private let text: @Sendable (String, String) -> Int

  /// - Returns: nil for a custom collation, which only the program that registered it can compute.
  package init?(_ collation: Collation) {
    switch collation {
    case .binary: text = compareBytes
    case .nocase: text = compareFoldingASCII
    case .rtrim: text = compareWithoutTrailingSpaces
    case .custom: return nil
    }
  }

  /// Returns a negative number, zero or a positive number if `left` comes before, with or after
  /// `right`.
  package func compare(_ left: SQLValue, _ right: SQLValue) -> Int {
    switch (left, right) {
    case (.integer(let left), .integer(let right)): sign(left, right)
    case (.integer(let left), .real(let right)): Self.compare(left, right)
    case (.real(let left), .integer(let right)): -Self.compare(right, left)
    case (.real(let left), .real(let right)): sign(left, right)
    case (.text(let left), .text(let right)): text(left, right)
    case (.blob(let left), .blob(let right)): compareBytes(left, right)
    default: sign(Self.rank(left), Self.rank(right))
    }
  }

  private static func rank(_ value: SQLValue) -> Int {
    switch value {
    case .null: 0
    case .integer, .real: 1
    case .text: 2
    case .blob: 3
    }
  }

  /// Compares exactly, even beyond 2^53, where a Double cannot distinguish neighbouring integers.
  private static func compare(_ integer: Int64, _ real: Double) -> Int {
    if real >= 0x1p63 { return -1 }
    if real < -0x1p63 { return 1 }
    let whole = Int64(real)
    // Equal whole parts beyond 2^53 leave no fraction, so the conversion is exact.
    return whole == integer ? sign(Double(whole), real) : sign(integer, whole)
  }
}

private func sign<Value: Comparable>(_ left: Value, _ right: Value) -> Int {
  left < right ? -1 : (left > right ? 1 : 0)
}

private func compareBytes<Left: Collection, Right: Collection>(_ left: Left, _ right: Right) -> Int
where Left.Element == UInt8, Right.Element == UInt8 {
  var other = right.makeIterator()
  for byte in left {
    guard let otherByte = other.next() else { return 1 }
    if byte != otherByte { return byte < otherByte ? -1 : 1 }
  }
  return other.next() == nil ? 0 : -1
}

@Sendable
private func compareBytes(_ left: String, _ right: String) -> Int {
  compareBytes(left.utf8, right.utf8)
}

// NOCASE stops at a NUL that both texts contain and then compares lengths only.
@Sendable
private func compareFoldingASCII(_ left: String, _ right: String) -> Int {
  var (lefts, rights) = (left.utf8.makeIterator(), right.utf8.makeIterator())
  while let leftByte = lefts.next(), let rightByte = rights.next() {
    let (folded, otherFolded) = (foldedASCII(leftByte), foldedASCII(rightByte))
    if folded != otherFolded { return folded < otherFolded ? -1 : 1 }
    if leftByte == 0 { break }
  }
  return sign(left.utf8.count, right.utf8.count)
}

@Sendable
private func compareWithoutTrailingSpaces(_ left: String, _ right: String) -> Int {
  compareBytes(withoutTrailingSpaces(left), withoutTrailingSpaces(right))
}

private func withoutTrailingSpaces(_ text: String) -> Substring.UTF8View {
  var bytes = text[...].utf8
  while bytes.last == 0x20 { bytes.removeLast() }
  return bytes
}

private func foldedASCII(_ byte: UInt8) -> UInt8 {
  (0x41...0x5A).contains(byte) ? byte + 0x20 : byte
}
