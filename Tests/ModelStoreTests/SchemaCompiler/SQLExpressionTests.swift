internal import Testing

@testable internal import ModelStore

@Suite(.tags(.unit)) struct SQLExpressionTests {
  private func problem(_ text: String) -> String? {
    do throws(SQLExpression.Problem) {
      _ = try SQLExpression(text)
      return nil
    } catch {
      return error.reason
    }
  }

  @Test(arguments: [
    "'noon", "'", "\"", "\"aa", "x'abb", "X'", "[a", "`bb", "'it''s", "'a' || 'a''",
  ])
  func anUnclosedQuoteIsFound(text: String) {
    #expect(problem(text) == "leaves a quote open")
  }

  @Test(arguments: [
    "'noon'", "''", "''''", "\"a\"\"b\"", "x'abba'", "X''", "[a\"']", "`b``b`", "'x' || x'00'",
  ])
  func aClosedQuoteIsAccepted(text: String) {
    #expect(problem(text) == nil)
  }
}
