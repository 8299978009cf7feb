/// Why an input cannot be read, and where.
package struct InputError: Error, Hashable, Sendable, CustomStringConvertible {
  /// The kind of error.
  package enum Problem: Hashable, Sendable {
    /// The bytes break the format's grammar; `detail` is the reason.
    case malformed(detail: String)
    /// The byte at the position is not UTF-8.
    case invalidUTF8(byte: UInt8)
    /// The input begins as UTF-16 and contains half a character at that byte.
    case invalidUTF16(ByteOrder, byteOffset: Int)
    /// The input is a text in an unsupported encoding.
    case otherEncoding(String)
    /// The byte means no character in the encoding that was named.
    case undefinedByte(UInt8, encoding: TextEncoding, byteOffset: Int)
    /// The input was said to be UTF-16, and no byte order mark says in which order.
    case missingByteOrder
    /// A record has another number of columns than the first.
    case columnCount(expected: Int, found: Int)
    /// One record is longer than the reader's limit.
    case recordTooLong(maxByteCount: Int)
    /// The system could not open or read the input.
    case unreadable(SystemError)
    /// The input could not be stored in a temporary file.
    case unkept(in: String, SystemError)
    /// Ctrl-C came while waiting for input.
    case interrupted
    /// The program does not accept this input; `reason` is the reason.
    case refused(reason: String)
  }

  package var problem: Problem
  package var position: InputPosition

  /// Whether the reader's position is after the faulty record, so that you can read the next one.
  /// False for every error that hides where the next record begins.
  package var leavesRestReadable: Bool

  package init(_ problem: Problem, at position: InputPosition, leavesRestReadable: Bool = false) {
    self.problem = problem
    self.position = position
    self.leavesRestReadable = leavesRestReadable
  }

  package var description: String {
    switch problem {
    case .malformed(let detail): "\(place): \(detail)"
    case .invalidUTF8(let byte):
      "\(place): byte 0x\(Self.hexadecimal(byte)) is not valid UTF-8"
    case .invalidUTF16(let order, let byteOffset):
      "byte \(byteOffset): the text is \(order.rawValue) and has half a character here"
    case .otherEncoding(let name):
      name == "UTF-32"
        ? "the text is \(name); UTF-8 is needed"
        : "the text is \(name) without a byte order mark; name the encoding"
    case .undefinedByte(let byte, let encoding, let byteOffset):
      "byte \(byteOffset): 0x\(Self.hexadecimal(byte)) means no character in \(encoding.rawValue)"
    case .missingByteOrder:
      "the text begins without a byte order mark; name utf-16le or utf-16be"
    case .columnCount(let expected, let found):
      "line \(position.line): expected \(expected) \(expected == 1 ? "column" : "columns"), "
        + "got \(found)"
    case .recordTooLong(let maxByteCount):
      "\(place): the record is longer than \(maxByteCount) bytes"
    case .unreadable(let error): "cannot read the input: \(error)"
    case .unkept(let directory, let error):
      "cannot keep the input in a temporary file in \(directory): \(error)"
    case .interrupted: "interrupted"
    case .refused(let reason): reason
    }
  }

  private var place: String {
    "line \(position.line), column \(position.column) (byte \(position.byteOffset))"
  }

  private static func hexadecimal(_ byte: UInt8) -> String {
    let digits = String(byte, radix: 16, uppercase: true)
    return digits.count == 1 ? "0" + digits : digits
  }
}
