import Testing

@testable import StoreCommand

@Suite struct JSONTextTests {
  @Test(arguments: [
    (JSONValue.null, "null"), (.boolean(true), "true"), (.boolean(false), "false"),
    (.integer(.min), "-9223372036854775808"), (.integer(.max), "9223372036854775807"),
    (.real(1), "1.0"), (.real(-0.0), "-0.0"), (.real(0.1), "0.1"), (.real(1e300), "1e+300"),
    (.real(.leastNonzeroMagnitude), "5e-324"), (.string(""), #""""#),
    (.string("a\"b\\c/d"), #""a\"b\\c/d""#),
    (.string("\u{8}\t\n\u{C}\r"), #""\b\t\n\f\r""#),
    (.string("\0\u{1B}\u{7F}\u{80}\u{9F}\u{A0}"), "\"\\u0000\\u001b\\u007f\\u0080\\u009f\u{A0}\""),
    (.string("é你👍"), #""é你👍""#), (.array([]), "[]"), (.object([]), "{}"),
    (
      .object([.init("b", .array([.integer(1), .null])), .init("a\n", .real(2.5))]),
      #"{"b":[1,null],"a\n":2.5}"#
    ),
  ])
  func writesCompactText(value: JSONValue, expected: String) throws {
    #expect(try JSONText.text(value) == expected)
  }

  @Test(arguments: [Double.infinity, -.infinity])
  func refusesWhatJSONCannotSay(number: Double) {
    #expect(throws: OutputError.nonFiniteNumber(number, field: nil)) {
      try JSONText.text(.array([.real(number)]))
    }
  }
}
