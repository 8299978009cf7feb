/// A hash of 64 bits that is the same in every process and on every machine, unlike `Hasher`. It
/// detects changes. It does not protect against forgery, which is not needed: a program that can
/// write the file can write anything into it.
package struct StableHash {
  package private(set) var value: UInt64 = 0xCBF2_9CE4_8422_2325

  package init() {}

  /// The hash as SQLite stores it.
  package var integer: Int64 { Int64(bitPattern: value) }

  package mutating func add(_ value: some Digestible) { value.add(to: &self) }

  fileprivate mutating func mix(_ word: UInt64) {
    value = (value ^ word) &* 0x9E37_79B9_7F4A_7C15
    value ^= value >> 29
  }

  /// Adds the number of bytes, then the bytes, eight at a time.
  fileprivate mutating func mix(_ bytes: some Collection<UInt8>) {
    mix(UInt64(bytes.count))
    var word: UInt64 = 0
    var filled: UInt64 = 0
    for byte in bytes {
      word |= UInt64(byte) << filled
      filled += 8
      guard filled == 64 else { continue }
      mix(word)
      word = 0
      filled = 0
    }
    // The first of the remaining bytes is the most significant.
    mix(word.byteSwapped >> (64 - filled))
  }
}

/// A value that can be added to a ``StableHash``, with every part that distinguishes it.
package protocol Digestible {
  func add(to hash: inout StableHash)
}

extension Int: Digestible {
  package func add(to hash: inout StableHash) { hash.mix(UInt64(truncatingIfNeeded: self)) }
}

extension Int64: Digestible {
  package func add(to hash: inout StableHash) { hash.mix(UInt64(bitPattern: self)) }
}

extension Double: Digestible {
  package func add(to hash: inout StableHash) { hash.mix(bitPattern) }
}

extension Bool: Digestible {
  package func add(to hash: inout StableHash) { hash.mix(self ? 1 : 0) }
}

extension String: Digestible {
  package func add(to hash: inout StableHash) {
    let isMixed: Void? = utf8.withContiguousStorageIfAvailable { hash.mix($0) }
    if isMixed == nil { hash.mix(utf8) }
  }
}

extension Optional: Digestible where Wrapped: Digestible {
  package func add(to hash: inout StableHash) {
    guard let self else { return hash.mix(0) }
    hash.mix(1)
    hash.add(self)
  }
}

extension Array: Digestible where Element: Digestible {
  package func add(to hash: inout StableHash) {
    hash.mix(UInt64(count))
    for element in self { hash.add(element) }
  }
}

extension SQLValue: Digestible {
  package func add(to hash: inout StableHash) {
    switch self {
    case .null: hash.mix(0)
    case .integer(let value):
      hash.mix(1)
      hash.add(value)
    case .real(let value):
      hash.mix(2)
      hash.add(value)
    case .text(let value):
      hash.mix(3)
      hash.add(value)
    case .blob(let value):
      hash.mix(4)
      hash.mix(value)
    }
  }
}
