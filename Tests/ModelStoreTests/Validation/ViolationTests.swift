import Foundation
import Testing

@testable import ModelStore

/// The one error, as a value that travels.
@Suite(.tags(.unit)) struct ViolationTests {
  private static let error = StoreError(
    .rejected, "Nothing was changed.", model: "Album", field: "title",
    key: [.integer(1), .real(1), .text("1"), .blob([0, 255]), .null],
    violations: [
      Violation(
        kind: .validator, model: "Album", key: [.integer(.max)], fields: ["title"],
        rule: "Album.real", message: "must be real", remedy: "Buy one.", severity: .warning,
        values: [.text("é\u{0}"), .real(0.1)])
    ], violationCount: 7, sqliteCode: 275)

  @Test func anErrorSurvivesJSON() throws {
    let bytes = try JSONEncoder().encode(Self.error)
    #expect(try JSONDecoder().decode(StoreError.self, from: bytes) == Self.error)
  }

  @Test func infiniteValuesSurviveJSON() throws {
    var error = Self.error
    error.violations[0].values = [.real(.infinity), .real(-.infinity), .real(0.5)]
    let bytes = try JSONEncoder().encode(error)
    #expect(try JSONDecoder().decode(StoreError.self, from: bytes) == error)
    #expect(
      String(decoding: try JSONEncoder().encode(SQLValue.real(-.infinity)), as: UTF8.self)
        == #"{"real":"-Infinity"}"#)
  }

  @Test func theFormIsStable() throws {
    let encoder = JSONEncoder()
    encoder.outputFormatting = [.sortedKeys]
    var violation = Self.error.violations[0]
    violation.values = nil
    #expect(
      String(decoding: try encoder.encode(violation), as: UTF8.self) == """
        {"fields":["title"],"key":[{"integer":9223372036854775807}],"kind":"validator",\
        "message":"must be real","model":"Album","remedy":"Buy one.","rule":"Album.real",\
        "severity":"warning"}
        """)
  }

  @Test(arguments: [
    "{}", #"{"integer":1,"real":1}"#, "1", #"{"integer":"1"}"#, #"{"other":1}"#,
    #"{"real":"much"}"#,
  ])
  func anInvalidValueIsRefused(text: String) {
    #expect(throws: DecodingError.self) {
      try JSONDecoder().decode([SQLValue].self, from: Data("[\(text)]".utf8))
    }
  }
}
