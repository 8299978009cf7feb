/// Reads JSON records one at a time from a byte source: the lines of an NDJSON input, the elements
/// of one JSON array, or a single object. Memory is bounded by the longest record.
package struct JSONRecordReader {
  /// The syntax around the records in the input.
  package enum Framing: Hashable, Sendable {
    /// One value on each line; blank lines are skipped.
    case lines
    /// The elements of one array; a single object is one record.
    case array
  }

  private enum Progress {
    case unopened
    /// Within an array; `isFirst` is true before the first element.
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

  /// The start of the current record.
  package private(set) var position = InputPosition.start

  package init(
    source: ByteSource, framing: Framing,
    recordByteCountMax: Int = InputBuffer.recordByteCountMax
  ) {
    self.framing = framing
    buffer = InputBuffer(source: source, recordByteCountMax: recordByteCountMax)
  }

  /// Returns the next record; nil at the end.
  ///
  /// - Throws: ``InputError``. After a faulty line the rest can be read; after a faulty array it
  ///   cannot.
  package mutating func readRecord() throws(InputError) -> JSONValue? {
    do {
      return try readRecordOrFail()
    } catch {
      if !error.leavesRestReadable { progress = .ended }
      throw error
    }
  }

  /// A copy of the current record's bytes, for a file of rejected records.
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

  /// Returns the number of bytes of the next line with its line feed; 0 at the end of the input.
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

  /// Returns the number of bytes of the element that begins here; all remaining bytes when nothing
  /// ends it.
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

/// Finds the end of an array's element without parsing it. It can pause whenever the input pauses.
/// It counts brackets outside strings and leaves all other checks to the parser.
struct JSONElementScanner {
  private enum State {
    case outside
    case string
    case escape
  }

  private var state = State.outside
  private var depth = 0
  private var offset = 0

  /// Whether an array, an object or a string continues after the scanned bytes.
  var isOpen: Bool { depth > 0 || state != .outside }

  /// Returns the offset of the comma or bracket after the element, once `bytes` contain it. `bytes`
  /// are the bytes of the element known so far.
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
