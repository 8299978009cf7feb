import Testing

@testable import RecordFormats

@Suite(.tags(.unit)) struct JSONParserTests {
  @Test(arguments: [
    ("null", JSONValue.null), (" true\n", .boolean(true)), ("false", .boolean(false)),
    ("0", .integer(0)), ("-0", .integer(0)), ("-9223372036854775808", .integer(.min)),
    ("9223372036854775807", .integer(.max)), ("1.0", .real(1)), ("-0.0", .real(-0.0)),
    ("1e2", .real(100)), ("1E+2", .real(100)), ("125e-2", .real(1.25)),
    ("5e-324", .real(.leastNonzeroMagnitude)),
    ("9007199254740993", .integer(9_007_199_254_740_993)), (#""""#, .string("")),
    (#""\"\\\/\b\f\n\r\t\u0041\u00e9""#, .string("\"\\/\u{8}\u{C}\n\r\tAé")),
    (#""\ud83d\uDC4D!""#, .string("👍!")), (#""\u0000""#, .string("\0")),
    ("\"é你👍\u{7F}\"", .string("é你👍\u{7F}")), ("[]", .array([])), ("[ ]", .array([])),
    ("{ }", .object([])),
    (
      #"{"b" : [1, [2.5], {}] , "a":null, "":"x"}"#,
      .object([
        .init("b", .array([.integer(1), .array([.real(2.5)]), .object([])])), .init("a", .null),
        .init("", .string("x")),
      ])
    ),
    (
      "{\"\u{E9}\":1,\"e\u{301}\":2}",
      .object([.init("\u{E9}", .integer(1)), .init("e\u{301}", .integer(2))])
    ),
  ])
  func readsEveryForm(text: String, expected: JSONValue) throws {
    #expect(try JSONParser.value(of: text.utf8) == expected)
  }

  @Test(arguments: [
    ("", "1:1 0 expected a value, found the end"),
    ("nul", "1:1 0 expected a value"),
    ("True", "1:1 0 expected a value"),
    ("'a'", "1:1 0 expected a value"),
    ("NaN", "1:1 0 expected a value"),
    ("-Infinity", "1:2 1 expected a digit"),
    ("+1", "1:1 0 expected a value"),
    ("01", "1:1 0 a number must not begin with an extra 0"),
    ("-", "1:2 1 expected a digit"),
    ("1.", "1:3 2 expected a digit"),
    (".5", "1:1 0 expected a value"),
    ("1e", "1:3 2 expected a digit"),
    ("1e+", "1:4 3 expected a digit"),
    ("0x10", "1:2 1 text follows the value"),
    ("1 2", "1:3 2 text follows the value"),
    ("9223372036854775808", "1:1 0 the integer 9223372036854775808 does not fit in 64 bits"),
    ("-9223372036854775809", "1:1 0 the integer -9223372036854775809 does not fit in 64 bits"),
    (
      "[36893488147419103232]",
      "1:2 1 the integer 36893488147419103232 does not fit in 64 bits"
    ),
    ("1e999", "1:1 0 the number 1e999 is beyond the range of a double"),
    ("[1,]", "1:4 3 expected a value"),
    ("[1 2]", "1:4 3 expected a comma or ]"),
    ("[1", "1:3 2 expected a comma or ]"),
    ("[", "1:2 1 expected a value, found the end"),
    ("{", "1:2 1 expected a name in quotes"),
    ("{a:1}", "1:2 1 expected a name in quotes"),
    (#"{"a" 1}"#, "1:6 5 expected a colon"),
    (#"{"a":1,}"#, "1:8 7 expected a name in quotes"),
    (#"{"a":1;"b":2}"#, "1:7 6 expected a comma or }"),
    (#"{"a":1,"\u0061":2}"#, "1:8 7 the name \"a\" appears twice in one object"),
    (#""abc"#, "1:1 0 a string is never closed"),
    (#""\x41""#, "1:2 1 a backslash must begin an escape of JSON"),
    (#""\u00g0""#, "1:2 1 \\u needs four hexadecimal digits"),
    (#""\ud83d""#, "1:2 1 half of a surrogate pair is missing"),
    (#""\ud83d\u0041""#, "1:2 1 half of a surrogate pair is missing"),
    (#""\udc4d""#, "1:2 1 half of a surrogate pair is missing"),
    ("\"a\tb\"", "1:3 2 a control character in a string must be escaped"),
    ("\"é\n\"", "1:3 3 a control character in a string must be escaped"),
    ("{\n \"é\": ?}", "2:7 9 expected a value"),
    ("// comment\n1", "1:1 0 expected a value"),
  ])
  func refusesMalformedText(text: String, expected: String) {
    #expect(refusal(of: Array(text.utf8)) == expected)
  }

  @Test(
    arguments: [
      [0xFF], [0x80], [0xC0, 0x80], [0xC3], [0xE0, 0x80, 0x80], [0xED, 0xA0, 0x80], [0xE2, 0x82],
      [0xF0, 0x80, 0x80, 0x80], [0xF4, 0x90, 0x80, 0x80], [0xF5, 0x80, 0x80, 0x80],
      [0xF0, 0x9F, 0x91, 0x22],
    ] as [[UInt8]])
  func refusesInvalidUTF8(bytes: [UInt8]) {
    for (prefix, offset) in [("\"é", 3), ("\"é\\n", 5)] {
      let found = refusal(of: Array(prefix.utf8) + bytes + [0x22])
      #expect(found == "1:\(offset) \(offset) invalid \(bytes[0])")
    }
  }

  private func refusal(of bytes: [UInt8]) -> String? {
    do {
      _ = try JSONParser.value(of: bytes)
      return nil
    } catch {
      let place = "\(error.position.line):\(error.position.column) \(error.position.byteOffset)"
      return switch error.problem {
      case .malformed(let detail): "\(place) \(detail)"
      case .invalidUTF8(let byte): "\(place) invalid \(byte)"
      default: "\(place) \(error)"
      }
    }
  }

  @Test func depthIsLimited() throws {
    let limit = JSONParser.depthMax
    let deepest = String(repeating: "[", count: limit) + String(repeating: "]", count: limit)
    _ = try JSONParser.value(of: deepest.utf8)
    #expect(
      refusal(of: Array(("[" + deepest + "]").utf8))
        == "1:129 128 arrays and objects are nested more than 128 deep")
    #expect(
      refusal(of: [UInt8](repeating: UInt8(ascii: "{"), count: 1_000_000))
        == "1:2 1 expected a name in quotes")
  }

  @Test func duplicateNamesAreFoundAmongManyToo() throws {
    let names = (0..<40).map { "\"n\($0)\":\($0)" }.joined(separator: ",")
    guard case .object(let members) = try JSONParser.value(of: "{\(names)}".utf8) else {
      Issue.record("no object")
      return
    }
    #expect(members.map(\.name) == (0..<40).map { "n\($0)" })
    #expect(
      refusal(of: Array("{\(names),\"n3\":1}".utf8))?.hasSuffix(
        "the name \"n3\" appears twice in one object") == true)
  }

  @Test func parsingUndoesWriting() throws {
    for seed in UInt64(1)...2_000 {
      var generator = SeededGenerator(seed: seed)
      let value = Self.value(depth: 4, &generator)
      let text = try JSONText.text(value)
      let parsed = try JSONParser.value(of: text.utf8)
      #expect(parsed == value, "seed \(seed)")
      #expect(try JSONText.text(parsed).utf8.elementsEqual(text.utf8), "seed \(seed)")
    }
  }

  /// Any cut or flipped byte gives a value or an error, never a trap, and no error points outside.
  @Test func damagedTextIsRefusedWithinItsBounds() throws {
    for seed in UInt64(1)...2_000 {
      var generator = SeededGenerator(seed: seed)
      var bytes = Array(try JSONText.text(Self.value(depth: 3, &generator)).utf8)
      bytes.removeLast(Int.random(in: 0...bytes.count, using: &generator))
      if let place = bytes.indices.randomElement(using: &generator) {
        bytes[place] = UInt8.random(in: .min ... .max, using: &generator)
      }
      do {
        _ = try JSONParser.value(of: bytes)
      } catch {
        #expect((0...bytes.count).contains(error.position.byteOffset), "seed \(seed)")
      }
    }
  }

  private static func value(depth: Int, _ generator: inout SeededGenerator) -> JSONValue {
    switch Int.random(in: 0...(depth > 0 ? 7 : 5), using: &generator) {
    case 0: return .null
    case 1: return .boolean(Bool.random(using: &generator))
    case 2: return .integer(Int64(bitPattern: generator.next()))
    case 3: return .integer(Int64.random(in: -9...9, using: &generator))
    case 4: return .real(generator.finiteReal())
    case 5: return .string(generator.awkwardText())
    case 6:
      return .array(
        (0..<Int.random(in: 0...4, using: &generator)).map { _ in
          value(depth: depth - 1, &generator)
        })
    default:
      return .object(
        (0..<Int.random(in: 0...20, using: &generator)).map { place in
          .init("\(place)" + generator.awkwardText(), value(depth: depth - 1, &generator))
        })
    }
  }
}
