import RecordFormats
import Testing

@testable import StoreCommand

@Suite(.tags(.unit)) struct TerminalTests {
  struct Case: Sendable, CustomTestStringConvertible {
    var choice = ColourPolicy.Choice.auto
    var environment: [String: String] = [:]
    var isTerminal = true
    var isColoured: Bool

    var testDescription: String { "\(choice) \(environment) \(isTerminal)" }
  }

  @Test(arguments: [
    Case(isColoured: true),
    Case(isTerminal: false, isColoured: false),
    Case(choice: .never, environment: ["CLICOLOR_FORCE": "1"], isColoured: false),
    Case(choice: .always, environment: ["NO_COLOR": "1"], isTerminal: false, isColoured: true),
    Case(environment: ["NO_COLOR": "1"], isColoured: false),
    Case(environment: ["NO_COLOR": "0"], isColoured: false),
    Case(environment: ["NO_COLOR": ""], isColoured: true),
    Case(environment: ["NO_COLOR": "1", "FORCE_COLOR": "1"], isColoured: false),
    Case(environment: ["STORECLI_NO_COLOR": "1", "FORCE_COLOR": "1"], isColoured: false),
    Case(environment: ["STORECLI_NO_COLOR": ""], isColoured: true),
    Case(environment: ["CLICOLOR_FORCE": "1"], isTerminal: false, isColoured: true),
    Case(environment: ["FORCE_COLOR": "1"], isTerminal: false, isColoured: true),
    Case(environment: ["CLICOLOR_FORCE": "0"], isTerminal: false, isColoured: false),
    Case(environment: ["FORCE_COLOR": ""], isTerminal: false, isColoured: false),
    Case(
      environment: ["FORCE_COLOR": "1", "CLICOLOR": "0", "TERM": "dumb"], isTerminal: false,
      isColoured: true),
    Case(environment: ["CLICOLOR": "0"], isColoured: false),
    Case(environment: ["CLICOLOR": "1"], isTerminal: false, isColoured: false),
    Case(environment: ["TERM": "dumb"], isColoured: false),
    Case(environment: ["TERM": "xterm-256color"], isColoured: true),
  ])
  func colourFollowsTheFirstRuleThatApplies(_ example: Case) {
    #expect(
      ColourPolicy.isColoured(
        choice: example.choice, environment: example.environment, isTerminal: example.isTerminal)
        == example.isColoured)
  }

  @Test(
    arguments: [
      ([:], 120, 120), ([:], nil, 80), (["COLUMNS": "40"], 120, 40), (["COLUMNS": "0"], 120, 120),
      (["COLUMNS": "wide"], nil, 80),
    ] as [([String: String], Int?, Int)])
  func widthComesFromColumnsThenTheTerminal(
    environment: [String: String], reported: Int?, expected: Int
  ) {
    #expect(Terminal.width(environment: environment, reported: reported) == expected)
  }

  @Test func everyStyleHasItsColours() {
    let coloured = Palette(isColoured: true)
    #expect(
      Palette.Meaning.allCases.map { coloured.dressed("x", as: $0) }
        == ["32", "31", "33", "36", "1", "2", "1;31"].map { "\u{1B}[\($0)mx\u{1B}[0m" })
    let plain = Palette(isColoured: false)
    #expect(
      [.added, .removed, .changed].map { plain.symbol($0) } == ["+", "-", "~"])
    #expect(coloured.dressed("", as: .added) == "")
  }
}
