import Testing

@testable import StoreCommand

@Suite(.tags(.unit)) struct ExitCodeTests {
  @Test func exitCodesKeepTheirNumbers() {
    let table = ExitCode.allCases.map { "\($0.rawValue) \($0.summary)" }
    #expect(
      table == [
        "0 ok", "1 failed", "2 a check found something", "3 not found",
        "4 rejected by a validator or a constraint", "5 database busy or locked, try again",
        "6 schema newer than this program", "64 wrong usage", "130 interrupted",
        "143 ended by SIGTERM",
      ])
  }
}
