import Foundation
import Testing

@testable import ModelStore

/// The replay of the lines of `watch` finds errors in them.
@Suite(.tags(.unit)) struct ReplayTests {
  private static let changes = [
    #"{"position":5,"op":"insert","model":"M","id":1,"changes":{"id":{"new":1},"n":{"new":null}}}"#,
    #"{"position":6,"op":"update","model":"M","id":1,"changes":{"n":{"old":null,"new":"b"}}}"#,
    #"{"position":7,"op":"update","model":"M","id":1,"changes":{"n":{"old":"b","new":"c"}}}"#,
    #"{"position":9,"op":"delete","model":"M","id":1,"changes":{"id":{"old":1},"n":{"old":"c"}}}"#,
  ]

  /// Whether the lines lead to no record, and nothing speaks against them.
  private func areTaken(_ lines: [String]) throws -> Bool {
    var told = ToldRecords([:])
    for line in lines { told.take(try ToldLine(Data(line.utf8))) }
    return told.objections.isEmpty && told.records == ["M": [:]]
  }

  @Test func aLostDuplicatedOrEarlyLineIsFound() throws {
    let lines = Self.changes
    #expect(try areTaken(lines))
    for index in lines.indices {
      var lost = lines
      lost.remove(at: index)
      #expect(try !areTaken(lost), "without \(index)")
      var doubled = lines
      doubled.insert(lines[index], at: index)
      #expect(try !areTaken(doubled), "\(index) twice")
      guard index > 0 else { continue }
      var swapped = lines
      swapped.swapAt(index - 1, index)
      #expect(try !areTaken(swapped), "\(index) too early")
    }
  }

  /// A line about one record of a result.
  private func line(_ step: Int, _ operation: String, _ id: Int, _ from: Int?, _ to: Int?) throws
    -> ToldLine
  {
    func text(_ index: Int?) -> String { index.map { "\($0)" } ?? "null" }
    let side = operation == "delete" ? "old" : "new"
    let changes = operation == "update" ? "{}" : "{\"id\":{\"\(side)\":\(id)}}"
    return try ToldLine(
      Data(
        """
        {"position":null,"op":"\(operation)","model":"M","id":\(id),"changes":\(changes),
        "index":{"from":\(text(from)),"to":\(text(to))},"step":\(step)}
        """.utf8))
  }

  @Test func theLinesOfOneStepAreAppliedTogether() throws {
    func result(deleting index: Int, in step: Int) throws -> ToldResult {
      var result = ToldResult()
      for line in [
        try line(1, "snapshot", 1, nil, 0), try line(1, "snapshot", 2, nil, 1),
        try line(2, "insert", 3, nil, 1), try line(2, "update", 1, 0, 2),
        try line(step, "delete", 2, index, nil),
      ] {
        result.take(line)
      }
      result.settle()
      return result
    }
    let right = try result(deleting: 0, in: 3)
    #expect(right.keys == [[.integer(3)], [.integer(1)]])
    #expect(right.objections == [] && right.records.objections == [])
    #expect(try !result(deleting: 1, in: 3).objections.isEmpty)
    // Before that step, the record had index 1.
    #expect(try !result(deleting: 0, in: 2).objections.isEmpty)
  }
}
