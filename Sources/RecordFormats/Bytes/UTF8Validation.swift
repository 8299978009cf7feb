/// Finds the first byte that breaks UTF-8 as RFC 3629 defines it: no overlong forms, no surrogates,
/// nothing beyond U+10FFFF.
enum UTF8Validation {
  /// Returns the index of the first byte of the first ill-formed sequence in `bytes[range]`; nil
  /// when all are well-formed.
  static func firstInvalidIndex(
    in bytes: UnsafeBufferPointer<UInt8>, _ range: Range<Int>
  ) -> Int? {
    var index = range.lowerBound
    while index < range.upperBound {
      let lead = bytes[index]
      if lead < 0x80 {
        index += 1
        continue
      }
      // After some first bytes the second byte has a narrower range, which excludes the forms that
      // RFC 3629 forbids.
      let second: ClosedRange<UInt8>
      let length: Int
      switch lead {
      case 0xC2...0xDF: (length, second) = (2, 0x80...0xBF)
      case 0xE0: (length, second) = (3, 0xA0...0xBF)
      case 0xE1...0xEC, 0xEE...0xEF: (length, second) = (3, 0x80...0xBF)
      case 0xED: (length, second) = (3, 0x80...0x9F)
      case 0xF0: (length, second) = (4, 0x90...0xBF)
      case 0xF1...0xF3: (length, second) = (4, 0x80...0xBF)
      case 0xF4: (length, second) = (4, 0x80...0x8F)
      default: return index
      }
      guard index + length <= range.upperBound, second.contains(bytes[index + 1]) else {
        return index
      }
      for place in 2..<max(2, length) where bytes[index + place] & 0xC0 != 0x80 {
        return index
      }
      index += length
    }
    return nil
  }
}
