import Testing

@testable import RecordFormats

@Suite(.tags(.unit)) struct JSONTextTests {
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

  @Test func refusesValuesThatJSONCannotRepresent() {
    #expect(throws: OutputError.notANumber) { try JSONText.text(.array([.real(.nan)])) }
  }

  @Test func infinityIsTheNumberThatIsGreaterThanAllOthers() throws {
    let ends = JSONValue.array([.real(.infinity), .real(-.infinity)])
    let text = try JSONText.text(ends)
    #expect(text == "[9e999,-9e999]")
    #expect(try JSONParser.value(of: text.utf8) == ends)
  }
}
