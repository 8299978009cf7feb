/// The byte order of UTF-16.
package enum ByteOrder: String, Hashable, Sendable {
  case littleEndian = "UTF-16LE"
  case bigEndian = "UTF-16BE"
}

extension ByteSource {
  /// Returns the same text in UTF-8 if a byte order mark says that it is UTF-16; otherwise the same
  /// bytes. Positions in errors count the bytes of UTF-8.
  ///
  /// - Throws: ``InputError`` for UTF-32, and for UTF-16 without a byte order mark.
  package func inUTF8() throws(InputError) -> ByteSource {
    let head = try head(atMost: Self.headByteCount, while: Self.mayBeUTF16)
    let rest = PrefixedSource(head, self)
    switch Self.encoding(of: head) {
    case .other:
      return ByteSource(next: { count throws(InputError) in try rest.bytes(atMost: count) })
    case .utf16(let order): return UTF16Decoder(rest, order).source
    case .unmarked(let order): throw InputError(.otherEncoding(order.rawValue), at: .start)
    case .utf32: throw InputError(.otherEncoding("UTF-32"), at: .start)
    }
  }

  /// The text of an input that is UTF-16 with a byte order mark.
  func markedUTF16() throws(InputError) -> ByteSource {
    let mark = try head(atMost: 2)
    let order: ByteOrder? =
      mark == [0xFF, 0xFE] ? .littleEndian : mark == [0xFE, 0xFF] ? .bigEndian : nil
    guard let order else { throw InputError(.missingByteOrder, at: .start) }
    return UTF16Decoder(PrefixedSource(mark, self), order).source
  }

  /// The text of an input that is UTF-16 in `order`, with or without a byte order mark.
  func utf16(_ order: ByteOrder) -> ByteSource {
    UTF16Decoder(PrefixedSource([], self), order).source
  }

  /// The first bytes of the input, as many as it has.
  ///
  /// - Parameter isNeeded: Whether more bytes are needed after these.
  private func head(
    atMost maxByteCount: Int, while isNeeded: ([UInt8]) -> Bool = { _ in true }
  ) throws(InputError) -> [UInt8] {
    var head: [UInt8] = []
    while head.count < maxByteCount, isNeeded(head) {
      let more = try bytes(atMost: maxByteCount - head.count)
      guard !more.isEmpty else { break }
      head += more
    }
    return head
  }

  /// Creates a source of the bytes that `next` returns: at most the given number, none at the
  /// end.
  fileprivate init(next: @escaping (_ maxByteCount: Int) throws(InputError) -> [UInt8]) {
    self.init { buffer throws(InputError) in
      let bytes = try next(buffer.count)
      buffer.copyBytes(from: bytes)
      return bytes.count
    }
  }

  /// The encoding of an input, judged from its first bytes.
  enum Encoding: Hashable {
    case utf16(ByteOrder)
    /// UTF-16 that has no byte order mark.
    case unmarked(ByteOrder)
    case utf32
    /// UTF-8, or an unrecognized encoding.
    case other
  }

  private static let headByteCount = 16

  /// Whether more bytes than `head` can show that the text is not UTF-8. If not, a program that
  /// writes one short line at a time need not write a second one first.
  private static func mayBeUTF16(_ head: [UInt8]) -> Bool {
    head.count < 2 || head.contains(0) || head[0] >= 0xFE
  }

  /// Returns the encoding. Every other byte of ASCII text in UTF-16 is zero, and no other text has
  /// that many zeros. Eight such characters are required as proof.
  static func encoding(of head: [UInt8]) -> Encoding {
    if head.starts(with: [0xFF, 0xFE, 0, 0]) || head.starts(with: [0, 0, 0xFE, 0xFF]) {
      return .utf32
    }
    if head.starts(with: [0xFF, 0xFE]) { return .utf16(.littleEndian) }
    if head.starts(with: [0xFE, 0xFF]) { return .utf16(.bigEndian) }
    guard head.count == headByteCount else { return .other }
    let evenZeros = head.indices.count { $0.isMultiple(of: 2) && head[$0] == 0 }
    let oddZeros = head.indices.count { !$0.isMultiple(of: 2) && head[$0] == 0 }
    switch (evenZeros, oddZeros) {
    case (0, headByteCount / 2): return .unmarked(.littleEndian)
    case (headByteCount / 2, 0): return .unmarked(.bigEndian)
    default: return .other
    }
  }
}

/// Bytes that were read already, followed by the rest of the source.
private final class PrefixedSource {
  private var head: ArraySlice<UInt8>
  private let source: ByteSource

  init(_ head: [UInt8], _ source: ByteSource) {
    self.head = head[...]
    self.source = source
  }

  func bytes(atMost maxByteCount: Int) throws(InputError) -> [UInt8] {
    guard !head.isEmpty else { return try source.bytes(atMost: maxByteCount) }
    let bytes = Array(head.prefix(maxByteCount))
    head.removeFirst(bytes.count)
    return bytes
  }
}

/// A strict decoder of UTF-16.
private final class UTF16Decoder {
  private let input: PrefixedSource
  private let order: ByteOrder
  /// Bytes that were read but not decoded: less than one character.
  private var undecoded: [UInt8] = []
  private var decoded: ArraySlice<UInt8> = []
  /// The number of decoded bytes of the input.
  private var byteOffset = 0

  init(_ input: PrefixedSource, _ order: ByteOrder) {
    self.input = input
    self.order = order
  }

  /// The text as a source of UTF-8.
  var source: ByteSource {
    ByteSource(next: { count throws(InputError) in try self.bytes(atMost: count) })
  }

  private func bytes(atMost maxByteCount: Int) throws(InputError) -> [UInt8] {
    while decoded.isEmpty {
      guard try decodeMore() else { return [] }
    }
    let bytes = Array(decoded.prefix(maxByteCount))
    decoded = decoded.dropFirst(bytes.count)
    return bytes
  }

  /// - Returns: false at the end.
  private func decodeMore() throws(InputError) -> Bool {
    let more = try input.bytes(atMost: InputBuffer.chunkByteCount)
    guard !more.isEmpty else {
      guard undecoded.isEmpty else { throw malformed(at: 0) }
      return false
    }
    undecoded += more
    var output: [UInt8] = []
    var place = 0
    while let first = unit(at: place) {
      var scalar = UInt32(first)
      var byteCount = 2
      if first & 0xF800 == 0xD800 {
        guard first < 0xDC00 else { throw malformed(at: place) }
        guard let second = unit(at: place + 2) else { break }
        guard second & 0xFC00 == 0xDC00 else { throw malformed(at: place) }
        scalar = 0x10000 + (UInt32(first & 0x3FF) << 10 | UInt32(second & 0x3FF))
        byteCount = 4
      }
      guard let scalar = Unicode.Scalar(scalar) else { throw malformed(at: place) }
      // The mark itself becomes a UTF-8 byte order mark, which every reader drops.
      output += Array(UTF8.encode(scalar) ?? UTF8.encodedReplacementCharacter)
      place += byteCount
    }
    undecoded.removeFirst(place)
    byteOffset += place
    decoded = output[...]
    return true
  }

  private func unit(at place: Int) -> UInt16? {
    guard place + 1 < undecoded.count else { return nil }
    let (first, second) = (UInt16(undecoded[place]), UInt16(undecoded[place + 1]))
    return order == .littleEndian ? second << 8 | first : first << 8 | second
  }

  private func malformed(at place: Int) -> InputError {
    InputError(.invalidUTF16(order, byteOffset: byteOffset + place), at: .start)
  }
}
