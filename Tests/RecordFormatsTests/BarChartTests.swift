import RecordFormats
import Testing

@Suite(.tags(.unit)) struct BarChartTests {
  private func chart(
    _ rows: [[CellValue]], width: Int, style: BarChart.Style = .blocks
  ) throws -> [String] {
    let collected = Collected()
    var terminal = Terminal.pipe
    terminal.width = width
    var chart = BarChart(
      label: OutputColumn("kind"), value: OutputColumn("count"), style: style,
      sink: collected.sink, terminal: terminal)
    for row in rows { try chart.write(row) }
    try chart.finish()
    return collected.text.split(separator: "\n").map(String.init)
  }

  @Test func theLongestBarEndsAtTheEdge() throws {
    #expect(
      try chart(
        [[.text("a"), .integer(8)], [.text("bc"), .integer(4)], [.text("d"), .integer(0)]],
        width: 20)
        == ["a   8  █████████████", "bc  4  ██████▌", "d   0"])
  }

  @Test func aSmallNumberHasABarAndNullHasNone() throws {
    #expect(
      try chart(
        [[.text("a"), .real(1000.5)], [.text("b"), .real(0.001)], [.null, .null]], width: 26)
        == ["a     1000.5  ████████████", "b      0.001  ▏", "null    null"])
  }

  @Test func negativeNumbersGrowToTheLeftOfZero() throws {
    #expect(
      try chart(
        [[.text("a"), .integer(-5)], [.text("b"), .integer(10)]], width: 22, style: .ascii)
        == ["a  -5  #####", "b  10       ##########"])
  }

  @Test func infinityTakesTheWholeSide() throws {
    #expect(
      try chart(
        [[.text("a"), .real(.infinity)], [.text("b"), .real(1)]], width: 20, style: .ascii)
        == ["a  inf  ############", "b  1.0  ############"])
    #expect(
      try chart(
        [
          [.text("a"), .real(.greatestFiniteMagnitude)],
          [.text("b"), .real(-.greatestFiniteMagnitude)],
        ],
        width: 44, style: .ascii
      ).map { $0.filter { $0 == "#" }.count } == [7, 7])
  }

  @Test func longLabelsAreCutAndNoneControlsTheTerminal() throws {
    let lines = try chart(
      [[.text("a\u{1B}[1m" + String(repeating: "x", count: 40)), .integer(1)]], width: 30)
    #expect(lines[0].hasPrefix("a\\u{1b}[1mxx") && lines[0].contains("\u{2026}  1  ████████"))
    #expect(
      try chart([[.text("né"), .integer(1)]], width: 20, style: .ascii)[0].hasPrefix("n?  1  #"))
  }

  @Test func decimalsHaveBars() throws {
    #expect(
      try chart(
        [[.text("a"), .text("0.25")], [.text("b"), .text("0.5")]], width: 20, style: .ascii)
        == ["a  0.25  ######", "b   0.5  ###########"])
  }
}
