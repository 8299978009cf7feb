/// A number of 64 bits over values: the same in every process and on every machine, unlike that of
/// `Hasher`. It detects changes. It is no protection against forgery, and needs none: who can write
/// the file can write anything into it.
struct StableHash {
  private(set) var value: UInt64 = 0xCBF2_9CE4_8422_2325

  /// As SQLite keeps it.
  var integer: Int64 { Int64(bitPattern: value) }

  mutating func add(_ value: some Digestible) { value.add(to: &self) }

  fileprivate mutating func mix(_ word: UInt64) {
    value = (value ^ word) &* 0x9E37_79B9_7F4A_7C15
    value ^= value >> 29
  }

  /// The number of bytes, then the bytes, eight at a time.
  fileprivate mutating func mix(_ bytes: UnsafeRawBufferPointer) {
    mix(UInt64(bytes.count))
    var place = 0
    while place + 8 <= bytes.count {
      mix(UInt64(littleEndian: bytes.loadUnaligned(fromByteOffset: place, as: UInt64.self)))
      place += 8
    }
    var rest: UInt64 = 0
    while place < bytes.count {
      rest = rest << 8 | UInt64(bytes[place])
      place += 1
    }
    mix(rest)
  }
}

/// What a ``StableHash`` takes in: every part of it that makes a difference.
protocol Digestible {
  func add(to hash: inout StableHash)
}

extension Int: Digestible {
  func add(to hash: inout StableHash) { hash.mix(UInt64(truncatingIfNeeded: self)) }
}

extension Int64: Digestible {
  func add(to hash: inout StableHash) { hash.mix(UInt64(bitPattern: self)) }
}

extension Double: Digestible {
  func add(to hash: inout StableHash) { hash.mix(bitPattern) }
}

extension Bool: Digestible {
  func add(to hash: inout StableHash) { hash.mix(self ? 1 : 0) }
}

extension String: Digestible {
  func add(to hash: inout StableHash) {
    var text = self
    text.withUTF8 { hash.mix(UnsafeRawBufferPointer($0)) }
  }
}

extension Optional: Digestible where Wrapped: Digestible {
  func add(to hash: inout StableHash) {
    guard let self else { return hash.mix(0) }
    hash.mix(1)
    hash.add(self)
  }
}

extension Array: Digestible where Element: Digestible {
  func add(to hash: inout StableHash) {
    hash.mix(UInt64(count))
    for element in self { hash.add(element) }
  }
}

extension SQLValue: Digestible {
  func add(to hash: inout StableHash) {
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
      value.withUnsafeBytes { hash.mix($0) }
    }
  }
}
