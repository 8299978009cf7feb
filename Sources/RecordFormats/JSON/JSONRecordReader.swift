/// Reads JSON records one at a time from a byte source, in memory bounded by the longest record:
/// the lines of an NDJSON input, or the elements of one JSON array or one object by itself.
package struct JSONRecordReader {
  /// How the records lie in the input.
  package enum Framing: Hashable, Sendable {
    /// One value on a line; blank lines are skipped.
    case lines
    /// The elements of one array; an object by itself is one record.
    case array
  }

  private enum Progress {
    case unopened
    /// Within an array, `isFirst` says whether nothing came before.
    case reading(isFirst: Bool)
    /// The input is one object, still to be read.
    case object
    case ended
  }

  private let framing: Framing
  private var buffer: InputBuffer
  private var progress = Progress.unopened
  private var next = InputPosition.start
  private var recordByteCount = 0

  /// Where the current record begins.
  package private(set) var position = InputPosition.start

  package init(
    source: ByteSource, framing: Framing,
    recordByteCountMax: Int = InputBuffer.recordByteCountMax
  ) {
    self.framing = framing
    buffer = InputBuffer(source: source, recordByteCountMax: recordByteCountMax)
  }

  /// The next record; nil at the end.
  ///
  /// - Throws: ``InputError``. A faulty line leaves the rest readable; a faulty array does not.
  package mutating func readRecord() throws(InputError) -> JSONValue? {
    do {
      return try readRecordOrFail()
    } catch {
      if !error.leavesRestReadable { progress = .ended }
      throw error
    }
  }

  /// A copy of the current record as it stands in the input; for a file of rejected records.
  package var recordBytes: [UInt8] {
    buffer.withUnread { Array($0[..<recordByteCount]) }
  }

  private mutating func readRecordOrFail() throws(InputError) -> JSONValue? {
    consume(recordByteCount)
    recordByteCount = 0
    if case .unopened = progress {
      next = try buffer.skipByteOrderMark()
      progress = .reading(isFirst: true)
      if framing == .array { try openArray() }
    }
    if case .object = progress { return try readObject() }
    guard case .reading(let isFirst) = progress else { return nil }
    return switch framing {
    case .lines: try readLine()
    case .array: try readElement(isFirst: isFirst)
    }
  }

  private mutating func consume(_ byteCount: Int) {
    next = buffer.withUnread { next.advanced(over: $0[..<byteCount]) }
    buffer.consume(byteCount)
  }

  private mutating func readLine() throws(InputError) -> JSONValue? {
    while true {
      let byteCount = try findLineEnd()
      guard byteCount > 0 else {
        progress = .ended
        return nil
      }
      position = next
      let isBlank = buffer.withUnread { $0[..<byteCount].allSatisfy(Self.isWhiteSpace) }
      if isBlank {
        consume(byteCount)
        continue
      }
      recordByteCount = byteCount
      return try parse(byteCount, leavesRestReadable: true)
    }
  }

  /// How many bytes the next line takes with its line feed; 0 at the end of the input.
  private mutating func findLineEnd() throws(InputError) -> Int {
    var searched = 0
    while true {
      let found = buffer.withUnread { bytes in
        bytes[searched...].firstIndex(of: UInt8(ascii: "\n"))
      }
      if let found { return found + 1 }
      if buffer.isAtEnd { return buffer.count }
      searched = buffer.count
      try buffer.fill(at: next)
    }
  }

  private mutating func openArray() throws(InputError) {
    switch try skipWhiteSpace() {
    case UInt8(ascii: "["): consume(1)
    case UInt8(ascii: "{"): progress = .object
    default: throw InputError(.malformed(detail: "expected an array or an object"), at: next)
    }
  }

  private mutating func readObject() throws(InputError) -> JSONValue? {
    position = next
    while !buffer.isAtEnd { try buffer.fill(at: next) }
    progress = .ended
    recordByteCount = buffer.count
    return try parse(buffer.count, leavesRestReadable: false)
  }

  private mutating func readElement(isFirst: Bool) throws(InputError) -> JSONValue? {
    let byte = try skipWhiteSpace()
    if byte == UInt8(ascii: "]") {
      consume(1)
      guard try skipWhiteSpace() == nil else {
        throw InputError(.malformed(detail: "text follows the array"), at: next)
      }
      progress = .ended
      return nil
    }
    if !isFirst {
      // The last element ended before a comma, a bracket or the end of the input.
      if byte != nil { consume(1) }
      guard try skipWhiteSpace() != nil else { throw neverClosed }
    } else if byte == nil {
      throw neverClosed
    }
    progress = .reading(isFirst: false)
    position = next
    let byteCount = try findElementEnd()
    let value = try parse(byteCount, leavesRestReadable: false)
    if byteCount == buffer.count {
      consume(byteCount)
      throw neverClosed
    }
    recordByteCount = byteCount
    return value
  }

  private var neverClosed: InputError {
    InputError(.malformed(detail: "the array is never closed"), at: next)
  }

  /// How many bytes the element that begins here takes; all that is left when nothing ends it.
  private mutating func findElementEnd() throws(InputError) -> Int {
    var scanner = JSONElementScanner()
    while true {
      let end = buffer.withUnread { scanner.scan($0) }
      if let end { return end }
      if buffer.isAtEnd { return buffer.count }
      try buffer.fill(at: position)
    }
  }

  /// Moves to the next byte that is not white space and returns it; nil at the end.
  private mutating func skipWhiteSpace() throws(InputError) -> UInt8? {
    while true {
      let (blankCount, byte) = buffer.withUnread { bytes in
        let blanks = bytes.prefix(while: Self.isWhiteSpace).count
        return (blanks, blanks < bytes.count ? bytes[blanks] : nil)
      }
      consume(blankCount)
      if let byte { return byte }
      if buffer.isAtEnd { return nil }
      try buffer.fill(at: next)
    }
  }

  private func parse(
    _ byteCount: Int, leavesRestReadable: Bool
  ) throws(InputError) -> JSONValue {
    try buffer.withUnread { bytes throws(InputError) in
      try JSONParser.value(
        of: UnsafeBufferPointer(rebasing: bytes[..<byteCount]), at: position,
        leavesRestReadable: leavesRestReadable)
    }
  }

  private static func isWhiteSpace(_ byte: UInt8) -> Bool {
    byte == 0x20 || byte == 0x0A || byte == 0x0D || byte == 0x09
  }
}

/// Finds where an array's element ends without parsing it, pausing where the input pauses. It
/// counts brackets outside strings and leaves all judgement to the parser.
struct JSONElementScanner {
  private enum State {
    case outside
    case string
    case escape
  }

  private var state = State.outside
  private var depth = 0
  private var offset = 0

  /// Whether an array, an object or a string goes on behind the bytes scanned.
  var isOpen: Bool { depth > 0 || state != .outside }

  /// The offset of the comma or bracket behind the element, once it is among `bytes`: the element
  /// from its first byte, as far as it is known.
  mutating func scan(_ bytes: UnsafeBufferPointer<UInt8>) -> Int? {
    while offset < bytes.count {
      let byte = bytes[offset]
      switch (state, byte) {
      case (.escape, _): state = .string
      case (.string, UInt8(ascii: "\\")): state = .escape
      case (.string, UInt8(ascii: "\"")): state = .outside
      case (.string, _): break
      case (.outside, UInt8(ascii: "\"")): state = .string
      case (.outside, UInt8(ascii: "{")), (.outside, UInt8(ascii: "[")): depth += 1
      case (.outside, UInt8(ascii: ",")) where depth == 0: return offset
      case (.outside, UInt8(ascii: "]")) where depth == 0: return offset
      case (.outside, UInt8(ascii: "}")), (.outside, UInt8(ascii: "]")): depth -= 1
      case (.outside, _): break
      }
      offset += 1
    }
    return nil
  }
}
