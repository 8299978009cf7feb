import Testing

@testable import RecordFormats

@Suite(.tags(.unit)) struct JSONRecordReaderTests {
  private func said(
    of bytes: some Sequence<UInt8>, _ framing: JSONRecordReader.Framing,
    chunkByteCount: Int = .max
  ) -> [String] {
    var reader = JSONRecordReader(
      source: .bytes(bytes, chunkByteCount: chunkByteCount), framing: framing)
    var said: [String] = []
    while true {
      do {
        guard let value = try reader.readRecord() else { return said }
        said.append("\(reader.position.line): \(try JSONText.text(value))")
      } catch let error as InputError {
        said.append("\(error)" + (error.leavesRestReadable ? "" : " STOP"))
      } catch {
        said.append("\(error)")
      }
    }
  }

  private func saidInAnyPieces(
    of text: String, _ framing: JSONRecordReader.Framing,
    sourceLocation: SourceLocation = #_sourceLocation
  ) -> [String] {
    let whole = said(of: text.utf8, framing)
    for size in 1...5 {
      #expect(
        said(of: text.utf8, framing, chunkByteCount: size) == whole,
        sourceLocation: sourceLocation)
    }
    return whole
  }

  @Test(
    arguments: [
      ("", []), ("\n \r\n", []),
      ("{\"a\":1}\n{\"a\":2}\r\n\n3", ["1: {\"a\":1}", "2: {\"a\":2}", "4: 3"]),
      ("\u{FEFF}1\n", ["1: 1"]),
      (
        "1\n{\"é\":\n2\n1 2\n3\n",
        [
          "1: 1", "line 3, column 1 (byte 9): expected a value, found the end", "3: 2",
          "line 4, column 3 (byte 13): text follows the value", "5: 3",
        ]
      ),
    ] as [(String, [String])])
  func linesAreRecords(text: String, expected: [String]) {
    #expect(saidInAnyPieces(of: text, .lines) == expected)
  }

  @Test(
    arguments: [
      ("[]", []), (" [ ] \n", []), ("[1]", ["1: 1"]),
      (
        "\u{FEFF}[\n {\"a\":\"],}\\\"\"} ,\n[[1],{}],\n\"x\"\n]\n",
        ["2: {\"a\":\"],}\\\"\"}", "3: [[1],{}]", "4: \"x\""]
      ),
      ("", ["line 1, column 1 (byte 0): expected an array or an object STOP"]),
      ("x", ["line 1, column 1 (byte 0): expected an array or an object STOP"]),
      (" {\"a\":1}", ["1: {\"a\":1}"]), ("{\n\"a\":\n1}\n", ["1: {\"a\":1}"]),
      ("{\"a\":1} {}", ["line 1, column 9 (byte 8): text follows the value STOP"]),
      ("[1,]", ["1: 1", "line 1, column 4 (byte 3): expected a value, found the end STOP"]),
      ("[,1]", ["line 1, column 2 (byte 1): expected a value, found the end STOP"]),
      ("[1 2]", ["line 1, column 4 (byte 3): text follows the value STOP"]),
      ("[1", ["line 1, column 3 (byte 2): the array is never closed STOP"]),
      ("[{\"a\":1}\n", ["line 2, column 1 (byte 9): the array is never closed STOP"]),
      ("[", ["line 1, column 2 (byte 1): the array is never closed STOP"]),
      ("[1,", ["1: 1", "line 1, column 4 (byte 3): the array is never closed STOP"]),
      ("[1,\n\"ab", ["1: 1", "line 2, column 1 (byte 4): a string is never closed STOP"]),
      ("[1] x", ["1: 1", "line 1, column 5 (byte 4): text follows the array STOP"]),
      ("[{]}]", ["line 1, column 3 (byte 2): expected a name in quotes STOP"]),
    ] as [(String, [String])])
  func elementsAreRecords(text: String, expected: [String]) {
    #expect(saidInAnyPieces(of: text, .array) == expected)
  }

  @Test func readingUndoesWriting() throws {
    let framings: [(OutputFormat, JSONRecordReader.Framing)] = [(.json, .array), (.ndjson, .lines)]
    for seed in UInt64(1)...200 {
      var generator = SeededGenerator(seed: seed)
      let rows = (0..<Int.random(in: 0...12, using: &generator)).map { _ -> [CellValue] in
        [
          .integer(Int64(bitPattern: generator.next())), .real(generator.finiteReal()),
          .text(generator.awkwardText()), .blob(generator.bytes(countMax: 9)), .null,
        ]
      }
      let columns = ["id", "r\"", "é", "b\n", ""].map { OutputColumn($0) }
      for (format, framing) in framings {
        let collected = Collected()
        var writer = try format.writer(columns: columns, to: collected.sink, terminal: .pipe)
        for row in rows { try writer.write(row) }
        try writer.finish()

        let chunkByteCount = Int.random(in: 1...200, using: &generator)
        var reader = JSONRecordReader(
          source: .bytes(collected.bytes, chunkByteCount: chunkByteCount), framing: framing)
        var read: [[CellValue?]] = []
        while case .object(let members)? = try reader.readRecord() {
          #expect(members.map(\.name) == columns.map(\.name))
          read.append(members.map(\.value.cell))
        }
        #expect(read == rows, "seed \(seed) \(format)")
      }
    }
  }

  @Test func theCurrentRecordIsKeptAsItStood() throws {
    var reader = JSONRecordReader(source: .bytes("[ {\"a\" : 1 }, 2]".utf8), framing: .array)
    var texts: [String] = []
    while try reader.readRecord() != nil {
      texts.append(String(decoding: reader.recordBytes, as: UTF8.self))
    }
    #expect(texts == ["{\"a\" : 1 }", "2"])
  }

  @Test(
    arguments: [
      (JSONValue.boolean(true), CellValue.integer(1)), (.boolean(false), .integer(0)),
      (.object([.init("$base64", .string("AQID"))]), .blob([1, 2, 3])),
      (.object([.init("$base64", .string("AQI"))]), nil),
      (.object([.init("$base64", .string("")), .init("x", .null)]), nil),
      (.object([.init("a", .string("AQID"))]), nil), (.array([]), nil),
    ] as [(JSONValue, CellValue?)])
  func aCellHoldsTheValueOfTheJSON(json: JSONValue, expected: CellValue?) {
    #expect(json.cell == expected)
  }
}
