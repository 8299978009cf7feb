import Testing

@testable import RecordFormats

@Suite(.tags(.unit)) struct CSVReaderTests {
  /// Everything a reader says of an input: records as texts, errors as sentences.
  private func said(
    of bytes: some Sequence<UInt8>, chunkByteCount: Int = .max, delimiter: UInt8 = 0x2C,
    recordByteCountMax: Int = InputBuffer.recordByteCountMax
  ) -> [String] {
    var reader = CSVReader(
      source: .bytes(bytes, chunkByteCount: chunkByteCount), delimiter: delimiter,
      recordByteCountMax: recordByteCountMax)
    var said: [String] = []
    while true {
      do {
        guard let texts = try reader.readTexts() else { return said }
        said.append(texts.debugDescription)
      } catch {
        said.append("\(error)" + (error.leavesRestReadable ? "" : " STOP"))
      }
    }
  }

  /// The result, provided that it does not depend on how the input is cut into pieces.
  private func saidInAnyPieces(
    of text: String, sourceLocation: SourceLocation = #_sourceLocation
  ) -> [String] {
    let whole = said(of: text.utf8)
    for size in 1...7 {
      #expect(said(of: text.utf8, chunkByteCount: size) == whole, sourceLocation: sourceLocation)
    }
    return whole
  }

  /// A program may write its second line only after the first one was read.
  @Test func aShortLineIsReadBeforeTheNextOneCame() throws {
    var isWritten = false
    let source = ByteSource { buffer throws(InputError) in
      guard !isWritten else { throw InputError(.interrupted, at: .start) }
      isWritten = true
      buffer.copyBytes(from: "name\n".utf8)
      return 5
    }
    var reader = CSVReader(source: try source.inUTF8())
    #expect(try reader.readTexts() == ["name"])
  }

  @Test(
    arguments: [
      ("", []),
      ("a,b\n1,2\n", [#"["a", "b"]"#, #"["1", "2"]"#]),
      ("a,b\r\n1,2", [#"["a", "b"]"#, #"["1", "2"]"#]),
      ("\u{FEFF}a,b\n", [#"["a", "b"]"#]),
      ("a,\n,b\n,", [#"["a", ""]"#, #"["", "b"]"#, #"["", ""]"#]),
      ("\"a,b\",\"c\"\"d\"\n\"\",\"\"\"\"", [#"["a,b", "c\"d"]"#, #"["", "\""]"#]),
      ("\"x\ny\",\"\r\n\"\r\n1,2", [#"["x\ny", "\r\n"]"#, #"["1", "2"]"#]),
      ("a,b\n\n\r\n1,2\n\n", [#"["a", "b"]"#, #"["1", "2"]"#]),
      ("a\n\n\"\"\n1", [#"["a"]"#, #"[""]"#, #"[""]"#, #"["1"]"#]),
      ("00601, x \n", [#"["00601", " x "]"#]),
      ("é,👍\n", [#"["é", "👍"]"#]),
      ("\"a\u{FEFF}\"\n", [["a\u{FEFF}"].debugDescription]),
    ] as [(String, [String])])
  func readsRecords(text: String, expected: [String]) {
    #expect(saidInAnyPieces(of: text) == expected)
  }

  @Test(
    arguments: [
      (
        "a,b\n1\n\"x\ny\",2,3\n4,5\n",
        [
          #"["a", "b"]"#, "line 2: expected 2 columns, got 1", "line 3: expected 2 columns, got 3",
          #"["4", "5"]"#,
        ]
      ),
      ("a\nx,\n", [#"["a"]"#, "line 2: expected 1 column, got 2"]),
      (
        "a,b\n1,é\"2\n3,4\n",
        [
          #"["a", "b"]"#,
          "line 2, column 4 (byte 8): a quote is inside a field that does not begin with a quote",
          #"["3", "4"]"#,
        ]
      ),
      (
        "a,b\n1\"\"2,\"x\ny\"\n3,4\n",
        [
          #"["a", "b"]"#,
          "line 2, column 2 (byte 5): a quote is inside a field that does not begin with a quote",
          #"["3", "4"]"#,
        ]
      ),
      (
        "a\"b\n1\n",
        ["line 1, column 2 (byte 1): a quote is inside a field that does not begin with a quote STOP"]
      ),
      (
        "a\n\"1\n\"2\n",
        [
          #"["a"]"#,
          "line 3, column 2 (byte 6): text follows the closing quote of a field, so the end of its record is not known STOP",
        ]
      ),
      (
        "a\n\"1\n2,\n",
        [#"["a"]"#, "line 2, column 1 (byte 2): this quote is never closed STOP"]
      ),
      (
        "a\rb\n",
        [
          "line 1, column 2 (byte 1): a carriage return without a line feed is outside quotes STOP"
        ]
      ),
      (
        "a\n\"b\"\r",
        [
          #"["a"]"#,
          "line 2, column 4 (byte 5): a carriage return without a line feed is outside quotes STOP",
        ]
      ),
    ] as [(String, [String])])
  func refusesMalformedRecords(text: String, expected: [String]) {
    #expect(saidInAnyPieces(of: text) == expected)
  }

  @Test func namesTheByteThatIsNotUTF8() {
    let bytes = Array("a,é\n1,".utf8) + [0xFF, 0x0A] + Array("2,3\n".utf8) + [0xC3, 0x0A]
    let expected = [
      #"["a", "é"]"#, "line 2, column 3 (byte 7): byte 0xFF is not valid UTF-8", #"["2", "3"]"#,
      "line 4, column 1 (byte 13): byte 0xC3 is not valid UTF-8",
    ]
    #expect(said(of: bytes) == expected)
    #expect(said(of: bytes, chunkByteCount: 1) == expected)
    #expect(
      said(of: [0xE9, 0x0A, 0x61]) == [
        "line 1, column 1 (byte 0): byte 0xE9 is not valid UTF-8 STOP"
      ])
  }

  @Test func distinguishesQuotedFromBareAndKeepsTheOriginalRecord() throws {
    var reader = CSVReader(source: .bytes("a,b,c\n007,\"\",\n\"x\"\"y\",1,2\r\n".utf8))
    var seen: [String] = []
    while try reader.advance() {
      let fields = (0..<reader.fieldCount).map { index in
        "\(reader.text(at: index))/\(reader.isQuoted(at: index))/\(reader.isMissing(at: index))"
      }
      seen.append(fields.joined(separator: " "))
      seen.append(String(decoding: reader.recordBytes, as: UTF8.self))
    }
    #expect(
      seen == [
        "a/false/false b/false/false c/false/false", "a,b,c",
        "007/false/false /true/false /false/true", "007,\"\",",
        "x\"y/true/false 1/false/false 2/false/false", "\"x\"\"y\",1,2",
      ])
  }

  @Test func recordsMayBeLongerThanAChunkButNotThanTheLimit() throws {
    let long = String(repeating: "x", count: 2_000_000)
    var reader = CSVReader(source: .bytes("a,\(long)\n".utf8, chunkByteCount: 4096))
    #expect(try reader.readTexts() == ["a", long])
    #expect(
      said(of: "a\n\(long)\n".utf8, recordByteCountMax: 100_000)
        == [
          #"["a"]"#, "line 2, column 1 (byte 2): the record is longer than 100000 bytes STOP",
        ])
  }

  @Test func otherDelimitersMayBeChosen() {
    #expect(
      said(of: "a,1;b\n\"x;y\";2".utf8, delimiter: UInt8(ascii: ";"))
        == [#"["a,1", "b"]"#, #"["x;y", "2"]"#])
  }

  @Test func readingUndoesWriting() throws {
    for seed in UInt64(1)...300 {
      var generator = SeededGenerator(seed: seed)
      let columnCount = Int.random(in: 1...4, using: &generator)
      let rows = (0..<Int.random(in: 1...20, using: &generator)).map { _ in
        (0..<columnCount).map { _ -> CellValue in
          Int.random(in: 0...4, using: &generator) == 0 ? .null : .text(generator.awkwardText())
        }
      }
      let collected = Collected()
      var writer = try OutputFormat.csv.writer(
        columns: (0..<columnCount).map { OutputColumn("c\($0)") }, to: collected.sink,
        terminal: .pipe)
      for row in rows { try writer.write(row) }
      try writer.finish()

      let chunkByteCount = Int.random(in: 1...64, using: &generator)
      var reader = CSVReader(source: .bytes(collected.bytes, chunkByteCount: chunkByteCount))
      #expect(try reader.readTexts() == (0..<columnCount).map { "c\($0)" })
      var read: [[CellValue]] = []
      while try reader.advance() {
        read.append(
          (0..<reader.fieldCount).map {
            reader.isMissing(at: $0) ? .null : .text(reader.text(at: $0))
          })
      }
      #expect(read.map(Spelled.init) == rows.map(Spelled.init), "seed \(seed)")
    }
  }

  /// Every text of up to six of the letters that matter, read whole and byte by byte.
  @Test func allShortTextsAreReadAlikeInAnyPieces() {
    let letters = Array("a,\"\n\r".utf8)
    var texts: [[UInt8]] = [[]]
    for _ in 0..<6 {
      texts = texts.flatMap { text in letters.map { text + [$0] } }
      for text in texts {
        let pieces = said(of: text, chunkByteCount: 1)
        if said(of: text) != pieces {
          Issue.record("\(String(decoding: text, as: UTF8.self).debugDescription)")
        }
      }
    }
  }
}

/// A row whose texts are compared byte for byte.
private struct Spelled: Equatable {
  let bytes: [[UInt8]?]

  init(_ row: [CellValue]) {
    bytes = row.map { value in
      guard case .text(let text) = value else { return nil }
      return Array(text.utf8)
    }
  }
}
