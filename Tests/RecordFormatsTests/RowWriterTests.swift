import Testing

@testable import RecordFormats

@Suite(.tags(.unit)) struct RowWriterTests {
  private static let columns = [
    OutputColumn("title"), OutputColumn("id", role: .key), OutputColumn("done", meaning: .truth),
    OutputColumn("score"), OutputColumn("photo"),
  ]

  private static let rows: [[CellValue]] = [
    [.text("a,\"b\"\tc\\\n"), .integer(1), .integer(1), .real(0.1), .blob([1, 2, 3])],
    [.text(""), .integer(.max), .integer(0), .integer(-5), .blob([])],
    [.null, .integer(3), .integer(7), .real(1), .null],
  ]

  private func written(
    _ format: OutputFormat, columns: [OutputColumn] = RowWriterTests.columns,
    rows: [[CellValue]] = RowWriterTests.rows, options: OutputFormat.Options = .init()
  ) throws -> String {
    let collected = Collected()
    var writer = try format.writer(
      columns: columns, to: collected.sink, terminal: .pipe, options: options)
    for row in rows { try writer.write(row) }
    try writer.finish()
    return collected.text
  }

  @Test func jsonIsOneArrayWithOneRecordOnALine() throws {
    #expect(
      try written(.json) == #"""
        [
        {"title":"a,\"b\"\tc\\\n","id":1,"done":true,"score":0.1,"photo":{"$base64":"AQID"}},
        {"title":"","id":9223372036854775807,"done":false,"score":-5,"photo":{"$base64":""}},
        {"title":null,"id":3,"done":7,"score":1.0,"photo":null}
        ]

        """#)
    #expect(try written(.json, rows: []) == "[]\n")
  }

  @Test func ndjsonHandsEachRecordOn() throws {
    let collected = Collected()
    var writer = try OutputFormat.ndjson.writer(
      columns: [OutputColumn("id")], to: collected.sink, terminal: .pipe)
    try writer.write([.integer(1)])
    #expect(collected.text == "{\"id\":1}\n")
    try writer.write([.integer(2)])
    try writer.finish()
    #expect(collected.text == "{\"id\":1}\n{\"id\":2}\n")
  }

  @Test func csvQuotesWhereNeededAndDistinguishesEmptyFromNull() throws {
    #expect(
      try written(.csv)
        == "title,id,done,score,photo\r\n"
        + "\"a,\"\"b\"\"\tc\\\n\",1,true,0.1,AQID\r\n"
        + "\"\",9223372036854775807,false,-5,\"\"\r\n"
        + ",3,7,1.0,\r\n")
  }

  @Test func tsvEscapesReversibly() throws {
    #expect(
      try written(.tsv)
        == "title\tid\tdone\tscore\tphoto\n"
        + "a,\"b\"\\tc\\\\\\n\t1\ttrue\t0.1\tAQID\n"
        + "\t9223372036854775807\tfalse\t-5\t\n"
        + "\\N\t3\t7\t1.0\t\\N\n")
  }

  @Test func plainHasOneLinePerRecordAndNoHeader() throws {
    let lines =
      "a,\"b\"\\tc\\\\n\t1\ttrue\t0.1\tAQID\n"
      + "\t9223372036854775807\tfalse\t-5\t\n"
      + "\t3\t7\t1.0\t\n"
    #expect(try written(.plain) == lines)
    let withHeader = OutputFormat.Options(header: .present)
    #expect(try written(.plain, options: withHeader) == "title\tid\tdone\tscore\tphoto\n" + lines)
    let names = [OutputColumn("name")]
    #expect(
      try written(.plain, columns: names, rows: [[.text("a\0b")], [.text("c")]])
        == "a\\0b\nc\n")
  }

  @Test func headersAreWrittenWithoutRowsToo() throws {
    let columns = [OutputColumn("a"), OutputColumn("b,c")]
    let absent = OutputFormat.Options(header: .absent)
    #expect(try written(.csv, columns: columns, rows: []) == "a,\"b,c\"\r\n")
    #expect(try written(.csv, columns: columns, rows: [], options: absent) == "")
  }

  @Test func aByteOrderMarkAtTheHeadOfAFileIsQuotedSoThatItStays() throws {
    let text = try written(.csv, columns: [OutputColumn("\u{FEFF}a")], rows: [])
    #expect(Array(text.utf8) == Array("\"\u{FEFF}a\"\r\n".utf8))
    var reader = CSVReader(source: .bytes(text.utf8))
    #expect(try reader.readTexts() == ["\u{FEFF}a"])
  }

  @Test func aRefusedRowLeavesNoHalfRecord() throws {
    let collected = Collected()
    var writer = try OutputFormat.json.writer(
      columns: [OutputColumn("id"), OutputColumn("x")], to: collected.sink, terminal: .pipe)
    try writer.write([.integer(1), .real(1.5)])
    #expect(throws: OutputError.notANumber) { try writer.write([.integer(2), .real(.nan)]) }
    try writer.finish()
    #expect(collected.text == "[\n{\"id\":1,\"x\":1.5}\n]\n")
  }

  @Test func jsonRefusesTwoColumnsOfOneName() {
    #expect(throws: OutputError.duplicateColumn("id")) {
      try written(.ndjson, columns: [OutputColumn("id"), OutputColumn("id")], rows: [])
    }
  }

  @Test func preferredFormatFollowsTheStream() {
    let screen = Terminal(isInteractive: true, width: 80, palette: Palette(isColoured: false))
    #expect([screen, .pipe].map { OutputFormat.preferred(on: $0) } == [.table, .plain])
  }

  @Test func yamlIsAListOfMappingsWithTheValuesOfJSON() throws {
    #expect(
      try written(.yaml) == #"""
        - "title": "a,\"b\"\tc\\\n"
          "id": 1
          "done": true
          "score": 0.1
          "photo": {"$base64":"AQID"}
        - "title": ""
          "id": 9223372036854775807
          "done": false
          "score": -5
          "photo": {"$base64":""}
        - "title": null
          "id": 3
          "done": 7
          "score": 1.0
          "photo": null

        """#)
    #expect(try written(.yaml, rows: []) == "[]\n")
    let infinity = [[CellValue.real(-.infinity)]]
    #expect(
      try written(.yaml, columns: [OutputColumn("n")], rows: infinity) == "- \"n\": -.inf\n")
  }

  @Test func markdownIsATableWhoseCellsStayCells() throws {
    #expect(
      try written(.md) == #"""
        | title | id | done | score | photo |
        | --- | --- | --- | --- | --- |
        | a,"b"\tc\\<br> | 1 | yes | 0.1 | <3 bytes> |
        |  | 9223372036854775807 | no | -5 | <0 bytes> |
        |  | 3 | 7 | 1.0 |  |

        """#)
    let pipe: [[CellValue]] = [[.text("a|b")]]
    #expect(
      try written(.md, columns: [OutputColumn("n")], rows: pipe) == "| n |\n| --- |\n| a\\|b |\n")
    // No markup of the text's own, and no line break that it does not have.
    let markup: [[CellValue]] = [[.text("a<br>b &lt;")]]
    #expect(
      try written(.md, columns: [OutputColumn("n")], rows: markup)
        == "| n |\n| --- |\n| a\\<br>b \\&lt; |\n")
  }
}
