/// Reads CSV (RFC 4180) record by record from a byte source, with memory bounded by the longest
/// record.
///
/// The current record is in a reused buffer, so get its fields before you read on. Nothing is
/// converted: `00601` stays `00601`, and quoted empty text differs from an empty field. The first
/// record determines the number of columns of all others. A byte order mark is dropped. An empty
/// line is skipped, unless there is only one column.
package struct CSVReader {
  private var buffer: InputBuffer
  private var scanner: CSVScanner
  private var recordByteCount = 0
  private var next = InputPosition.start
  private var progress = Progress.unopened

  private enum Progress {
    case unopened
    case reading
    case ended
  }

  /// The start of the current record.
  package private(set) var position = InputPosition.start
  /// The number of columns of each record; nil before the first.
  package private(set) var columnCount: Int?

  /// Creates a reader at the beginning of `source`; `delimiter` is neither a quote nor a line end.
  package init(
    source: ByteSource, delimiter: UInt8 = UInt8(ascii: ","),
    quoting: CSVScanner.Quoting = .quotes,
    recordByteCountMax: Int = InputBuffer.recordByteCountMax
  ) {
    precondition(
      ![0x22, 0x0A, 0x0D].contains(delimiter), "A CSV delimiter cannot be a quote or a line end.")
    buffer = InputBuffer(source: source, recordByteCountMax: recordByteCountMax)
    scanner = CSVScanner(delimiter: delimiter, quoting: quoting)
  }

  /// Moves to the next record.
  ///
  /// - Returns: Whether there is a next record.
  /// - Throws: ``InputError``. If the rest is still readable, as after a wrong column count, the
  ///   faulty record is the current one and the next call moves on. Otherwise there are no more
  ///   records.
  package mutating func advance() throws(InputError) -> Bool {
    do {
      return try advanceOrFail()
    } catch {
      if !error.leavesRestReadable { progress = .ended }
      throw error
    }
  }

  /// Returns the fields of the next record as texts, such as a header; nil at the end.
  package mutating func readTexts() throws(InputError) -> [String]? {
    guard try advance() else { return nil }
    return (0..<fieldCount).map { text(at: $0) }
  }

  /// The number of fields of the current record.
  package var fieldCount: Int { scanner.fields.count }

  /// Returns whether the field was in quotes. Then it is text, whatever it looks like.
  package func isQuoted(at index: Int) -> Bool {
    scanner.fields[index].isQuoted
  }

  /// Returns whether nothing is between the delimiters, not even quotes.
  package func isMissing(at index: Int) -> Bool {
    let field = scanner.fields[index]
    return !field.isQuoted && field.start == field.end
  }

  /// Returns a copy of the field's text.
  package func text(at index: Int) -> String {
    let field = scanner.fields[index]
    return buffer.withUnread { bytes in
      let slice = UnsafeBufferPointer(rebasing: bytes[field.start..<field.end])
      guard field.hasDoubledQuotes else { return String(decoding: slice, as: UTF8.self) }
      return String(decoding: Self.withSingleQuotes(slice), as: UTF8.self)
    }
  }

  /// A copy of the current record's bytes without its line end, for a file of rejected records.
  package var recordBytes: [UInt8] {
    buffer.withUnread { bytes in
      let record = bytes[..<recordByteCount]
      let end = record.lastIndex { $0 != UInt8(ascii: "\n") && $0 != UInt8(ascii: "\r") }
      return Array(record[..<(end.map { $0 + 1 } ?? 0)])
    }
  }

  /// A copy of the current record's bytes from a field to the end, without the line end; nil if the
  /// record has no such field.
  package func recordBytes(fromField index: Int) -> [UInt8]? {
    guard index < fieldCount else { return nil }
    let field = scanner.fields[index]
    let bytes = recordBytes
    let start = field.isQuoted ? field.start - 1 : field.start
    return start <= bytes.count ? Array(bytes[start...]) : nil
  }

  private mutating func advanceOrFail() throws(InputError) -> Bool {
    if progress == .unopened {
      next = try buffer.skipByteOrderMark()
      progress = .reading
    }
    repeat {
      guard progress == .reading, try readRecord() else {
        progress = .ended
        return false
      }
    } while isBlankLine
    try checkUTF8()
    try checkColumnCount()
    return true
  }

  private var isBlankLine: Bool {
    columnCount != 1 && fieldCount == 1 && isMissing(at: 0)
  }

  /// Finds the next record in the buffer, and reads as many bytes as needed.
  private mutating func readRecord() throws(InputError) -> Bool {
    buffer.consume(recordByteCount)
    recordByteCount = 0
    scanner.reset()
    position = next
    while true {
      let isAtEnd = buffer.isAtEnd
      let outcome = buffer.withUnread { scanner.scan($0, isAtEnd: isAtEnd) }
      switch outcome {
      case .unfinished: try buffer.fill(at: position)
      case .end: return false
      case .record(let byteCount):
        recordByteCount = byteCount
        next = InputPosition(
          byteOffset: position.byteOffset + byteCount,
          line: position.line + lineEndCount(in: byteCount), column: 1)
        if let flaw = scanner.flaw {
          // If the first record is faulty, the number of columns is unknown.
          throw InputError(
            .malformed(detail: flaw.fault.rawValue), at: place(of: flaw.offset),
            leavesRestReadable: columnCount != nil)
        }
        return true
      case .refused(let fault, let offset):
        let place = place(of: offset)
        throw InputError(.malformed(detail: fault.rawValue), at: place)
      }
    }
  }

  private func lineEndCount(in byteCount: Int) -> Int {
    guard scanner.fields.contains(where: \.isQuoted) else { return 1 }
    return buffer.withUnread { bytes in
      bytes[..<byteCount].reduce(0) { $0 + ($1 == UInt8(ascii: "\n") ? 1 : 0) }
    }
  }

  private func checkUTF8() throws(InputError) {
    guard !scanner.isASCII else { return }
    let invalid = buffer.withUnread { bytes in
      UTF8Validation.firstInvalidIndex(in: bytes, 0..<recordByteCount).map { ($0, bytes[$0]) }
    }
    guard let (offset, byte) = invalid else { return }
    // If the first record cannot be read, the number of columns is unknown.
    throw InputError(
      .invalidUTF8(byte: byte), at: place(of: offset), leavesRestReadable: columnCount != nil)
  }

  private mutating func checkColumnCount() throws(InputError) {
    guard let columnCount else {
      columnCount = fieldCount
      return
    }
    guard columnCount == fieldCount else {
      throw InputError(
        .columnCount(expected: columnCount, found: fieldCount), at: position,
        leavesRestReadable: true)
    }
  }

  private func place(of offset: Int) -> InputPosition {
    buffer.withUnread { position.advanced(over: $0[..<offset]) }
  }

  private static func withSingleQuotes(_ bytes: UnsafeBufferPointer<UInt8>) -> [UInt8] {
    var single: [UInt8] = []
    single.reserveCapacity(bytes.count)
    var isSecondQuote = false
    for byte in bytes {
      if byte == UInt8(ascii: "\"") && !isSecondQuote {
        isSecondQuote = true
        continue
      }
      isSecondQuote = false
      single.append(byte)
    }
    return single
  }
}
