/// How the bytes of an input stand for characters.
package enum TextEncoding: String, CaseIterable, Hashable, Sendable {
  case utf8 = "utf-8"
  /// UTF-16 whose byte order a byte order mark says.
  case utf16 = "utf-16"
  case utf16LittleEndian = "utf-16le"
  case utf16BigEndian = "utf-16be"
  /// ISO-8859-1: each byte is the character of that number.
  case latin1 = "latin1"
  /// As ``latin1``, with other characters from 0x80 to 0x9F, and five bytes without a meaning.
  case windows1252 = "windows-1252"

  /// The encoding with that name; its usual other names are known too.
  package init?(name: String) {
    let name = name.lowercased()
    guard let encoding = TextEncoding(rawValue: name) ?? Self.otherNames[name] else { return nil }
    self = encoding
  }

  private static let otherNames: [String: TextEncoding] = [
    "utf8": .utf8, "utf16": .utf16, "utf16le": .utf16LittleEndian, "utf16be": .utf16BigEndian,
    "latin-1": .latin1, "iso-8859-1": .latin1, "iso8859-1": .latin1, "cp1252": .windows1252,
    "windows1252": .windows1252,
  ]

  /// The characters of the bytes from 0x80 to 0x9F in Windows-1252; zero for none.
  /// <https://encoding.spec.whatwg.org/index-windows-1252.txt> gives the five bytes without a
  /// meaning the control characters of their numbers. A file with them is damaged or has another
  /// encoding, so they are errors here.
  private static let windowsCharacters: [UInt16] = [
    0x20AC, 0, 0x201A, 0x0192, 0x201E, 0x2026, 0x2020, 0x2021, 0x02C6, 0x2030, 0x0160, 0x2039,
    0x0152, 0, 0x017D, 0, 0, 0x2018, 0x2019, 0x201C, 0x201D, 0x2022, 0x2013, 0x2014, 0x02DC,
    0x2122, 0x0161, 0x203A, 0x0153, 0, 0x017E, 0x0178,
  ]

  /// The character of one byte of an encoding with one byte for each character; nil for none.
  fileprivate func scalar(of byte: UInt8) -> Unicode.Scalar? {
    guard self == .windows1252, (0x80..<0xA0).contains(byte) else { return Unicode.Scalar(byte) }
    let character = Self.windowsCharacters[Int(byte) - 0x80]
    return character == 0 ? nil : Unicode.Scalar(character)
  }
}

extension ByteSource {
  /// Returns the same text in UTF-8.
  ///
  /// - Parameter encoding: The encoding; nil for UTF-8, or UTF-16 with a byte order mark.
  /// - Throws: ``InputError`` as ``inUTF8()``. While bytes are read, also for a byte that has no
  ///   meaning in the encoding; the error says where it is in the input.
  package func inUTF8(from encoding: TextEncoding?) throws(InputError) -> ByteSource {
    switch encoding {
    case nil: try inUTF8()
    case .utf8: self
    case .utf16: try markedUTF16()
    case .utf16LittleEndian: utf16(.littleEndian)
    case .utf16BigEndian: utf16(.bigEndian)
    case .latin1?, .windows1252?: singleBytes(in: encoding ?? .latin1)
    }
  }

  private func singleBytes(in encoding: TextEncoding) -> ByteSource {
    let source = self
    var byteOffset = 0
    var decoded: ArraySlice<UInt8> = []
    return ByteSource { buffer throws(InputError) in
      if decoded.isEmpty {
        var output: [UInt8] = []
        for byte in try source.bytes(atMost: InputBuffer.chunkByteCount) {
          guard let scalar = encoding.scalar(of: byte) else {
            throw InputError(
              .undefinedByte(byte, encoding: encoding, byteOffset: byteOffset), at: .start)
          }
          output += Array(UTF8.encode(scalar) ?? UTF8.encodedReplacementCharacter)
          byteOffset += 1
        }
        decoded = output[...]
      }
      let count = Swift.min(decoded.count, buffer.count)
      buffer.copyBytes(from: decoded.prefix(count))
      decoded = decoded.dropFirst(count)
      return count
    }
  }
}
