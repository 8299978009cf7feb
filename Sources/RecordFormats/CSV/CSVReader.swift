/// Reads CSV (RFC 4180) record by record from a byte source, in memory bounded by the longest
/// record.
///
/// The current record lies in a reused buffer; ask for its fields before reading on. It converts
/// nothing: `00601` stays `00601`, and quoted empty text is told from an empty field. The first
/// record decides how many columns all others have. A byte order mark is dropped; a line without
/// any character is skipped, unless there is one column only.
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

  /// Where the current record begins.
  package private(set) var position = InputPosition.start
  /// How many columns each record has; nil before the first.
  package private(set) var columnCount: Int?

  /// Reads from the head of `source`; `delimiter` is neither a quote nor a line end.
  package init(
    source: ByteSource, delimiter: UInt8 = UInt8(ascii: ","),
    quoting: CSVScanner.Quoting = .quotes,
    recordByteCountMax: Int = InputBuffer.recordByteCountMax
  ) {
    precondition(
      ![0x22, 0x0A, 0x0D].contains(delimiter), "A CSV delimiter is no quote and no line end.")
    buffer = InputBuffer(source: source, recordByteCountMax: recordByteCountMax)
    scanner = CSVScanner(delimiter: delimiter, quoting: quoting)
  }

  /// Moves to the next record.
  ///
  /// - Returns: Whether there is one.
  /// - Throws: ``InputError``. When it leaves the rest readable, as with a wrong column count, the
  ///   faulty record is the current one and the next call moves on; otherwise there is no more.
  package mutating func advance() throws(InputError) -> Bool {
    do {
      return try advanceOrFail()
    } catch {
      if !error.leavesRestReadable { progress = .ended }
      throw error
    }
  }

  /// The fields of the next record as texts, such as a header; nil at the end.
  package mutating func readTexts() throws(InputError) -> [String]? {
    guard try advance() else { return nil }
    return (0..<fieldCount).map { text(at: $0) }
  }

  /// How many fields the current record has.
  var fieldCount: Int { scanner.fields.count }

  /// Whether the field stood in quotes: text then, whatever it looks like.
  package func isQuoted(at index: Int) -> Bool {
    scanner.fields[index].isQuoted
  }

  /// Whether nothing stands between the delimiters, not even quotes.
  package func isMissing(at index: Int) -> Bool {
    let field = scanner.fields[index]
    return !field.isQuoted && field.start == field.end
  }

  /// A copy of the field's text.
  package func text(at index: Int) -> String {
    let field = scanner.fields[index]
    return buffer.withUnread { bytes in
      let slice = UnsafeBufferPointer(rebasing: bytes[field.start..<field.end])
      guard field.hasDoubledQuotes else { return String(decoding: slice, as: UTF8.self) }
      return String(decoding: Self.withSingleQuotes(slice), as: UTF8.self)
    }
  }

  /// A copy of the current record as it stands in the input, without its line end; for a file of
  /// rejected records.
  package var recordBytes: [UInt8] {
    buffer.withUnread { bytes in
      let record = bytes[..<recordByteCount]
      let end = record.lastIndex { $0 != UInt8(ascii: "\n") && $0 != UInt8(ascii: "\r") }
      return Array(record[..<(end.map { $0 + 1 } ?? 0)])
    }
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

  /// Finds the next record in the buffer, reading as much as that takes.
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
    // A first record that cannot be read leaves the columns of all others unknown.
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
