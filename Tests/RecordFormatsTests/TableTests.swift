import Testing

@testable import RecordFormats

@Suite(.tags(.unit)) struct TableTests {
  private static let columns = [
    OutputColumn("title"), OutputColumn("id", role: .key), OutputColumn("done", meaning: .truth),
    OutputColumn("price"),
  ]

  private func table(
    _ rows: [[CellValue]], columns: [OutputColumn] = TableTests.columns, width: Int?,
    isColoured: Bool = false
  ) throws -> (text: String, cutCellCount: Int) {
    let collected = Collected()
    let terminal = Terminal(
      isInteractive: width != nil, width: width, palette: Palette(isColoured: isColoured))
    var table = Table(
      columns: columns, sink: collected.sink, terminal: terminal, recordName: "Todo")
    for row in rows { try table.write(row) }
    try table.finish()
    return (collected.text, table.cutCellCount)
  }

  private static let rows: [[CellValue]] = [
    [.text("Write the manual"), .integer(42), .integer(0), .real(9.5)],
    [.text("付款"), .integer(7), .integer(1), .null],
    [.text("e\u{301}t\u{1B}[31mé 👨‍👩‍👧"), .integer(1204), .null, .integer(120)],
  ]

  @Test func keysComeFirstAndCellsAlign() throws {
    let (text, cut) = try table(Self.rows, width: 80)
    #expect(
      text == """
          ID  TITLE             DONE  PRICE
          42  Write the manual  no      9.5
           7  付款              yes    null
        1204  e\u{301}t\\u{1b}[31mé 👨‍👩‍👧  null    120

        """)
    #expect(cut == 0)
  }

  @Test func wideCellsAreCutVisiblyAndCounted() throws {
    let (text, cut) = try table(Self.rows, width: 30)
    #expect(
      text == """
          ID  TITLE        DONE  PRICE
          42  Write the …  no      9.5
           7  付款         yes    null
        1204  e\u{301}t\\u{1b}[3…  null    120

        """)
    #expect(cut == 2)
  }

  @Test func aTerminalTooNarrowShowsRecords() throws {
    let (text, cut) = try table([Self.rows[0], Self.rows[1]], width: 20)
    #expect(
      text == """
        Todo 42
          title  Write the manual
          done   no
          price  9.5
        Todo 7
          title  付款
          done   yes
          price  null

        """)
    #expect(cut == 0)
  }

  /// A text of many megabytes is not measured to its end. These marks take no room, so only the
  /// bound of what is looked at cuts them.
  @Test func aLongCellIsCutBeforeItIsMeasured() throws {
    let marks = String(repeating: "\u{301}", count: 100_000)
    let (text, cut) = try table(
      [[.integer(1), .text("a" + marks + "b")]],
      columns: [OutputColumn("id", role: .key), OutputColumn("text")], width: 80)
    let shown = "a" + String(repeating: "\u{301}", count: 80 * 16 - 1)
    #expect(text == "ID  TEXT\n 1  \(shown)\u{2026}\n")
    #expect(cut == 1)
  }

  @Test func aPipeCutsNothing() throws {
    let long = String(repeating: "x", count: 300)
    let (text, cut) = try table(
      [[.integer(1), .text(long)]],
      columns: [OutputColumn("id", role: .key), OutputColumn("text")], width: nil)
    #expect(text == "ID  TEXT\n 1  \(long)\n")
    #expect(cut == 0)
  }

  @Test func coloursTakeNoCells() throws {
    let (text, _) = try table(
      [[.integer(1), .null], [.integer(22), .text("x")]],
      columns: [OutputColumn("id", role: .key), OutputColumn("a")], width: 80, isColoured: true)
    #expect(
      text == "\u{1B}[1mID\u{1B}[0m  \u{1B}[1mA\u{1B}[0m\n"
        + " \u{1B}[36m1\u{1B}[0m  \u{1B}[2mnull\u{1B}[0m\n"
        + "\u{1B}[36m22\u{1B}[0m  x\n")
  }

  @Test func rowsBeyondTheMeasuredOnesKeepTheColumns() throws {
    let columns = [OutputColumn("id", role: .key), OutputColumn("a")]
    let count = Table.measuredRowCount + 2
    let rows = (0..<count).map { index -> [CellValue] in
      [.integer(Int64(100 + index)), .text(index == count - 1 ? "far too long" : "short")]
    }
    let (text, cut) = try table(rows, columns: columns, width: 40)
    let lines = text.split(separator: "\n")
    #expect(lines.count == count + 1)
    #expect(lines.suffix(2) == [" 356  short".dropFirst(), "357  far …"])
    #expect(cut == 1)
  }

  @Test func withoutRowsThereIsNoOutput() throws {
    #expect(try table([], width: 80).text == "")
  }

  @Test(
    arguments: [
      ([10, 20], [true, true], nil, [10, 20]), ([10, 20], [true, true], 32, [10, 20]),
      ([10, 20], [true, true], 31, [10, 19]),
      ([10, 40, 60], [false, true, true], 60, [10, 23, 23]),
      ([10, 5, 60], [false, true, true], 40, [10, 5, 21]), ([8, 30], [false, true], 18, [8, 8]),
      ([8, 30], [false, true], 17, nil), ([50], [false], 40, nil), ([], [], 10, []),
    ] as [([Int], [Bool], Int?, [Int]?)])
  func layoutSharesTheRoom(
    wanted: [Int], isCuttable: [Bool], available: Int?, expected: [Int]?
  ) {
    let demands = zip(wanted, isCuttable).map { TableLayout.Demand(width: $0, isCuttable: $1) }
    #expect(TableLayout(demands, available: available)?.widths == expected)
  }
}

@Suite(.tags(.unit)) struct RecordSheetTests {
  @Test func fieldsArePrintedBelowEachOtherWithAllTheirLines() {
    let sheet = RecordSheet(
      title: "Todo 42   rev 6",
      fields: [
        .init(OutputColumn("title"), .text("one\n\ntwo\u{1B}")),
        .init(OutputColumn("due"), .null),
        .init(OutputColumn("done", meaning: .truth), .integer(1)),
        .init(OutputColumn("project"), .text("-> Project 3 \"Docs\"")),
        .init(OutputColumn("名"), .blob([1])),
      ])
    #expect(
      sheet.text(palette: Palette(isColoured: false)) == """
        Todo 42   rev 6
          title    one

                   two\\u{1b}
          due      null
          done     yes
          project  -> Project 3 "Docs"
          名       <1 byte>

        """)
  }
}
