import Foundation
import Testing

/// `ARCHITECTURE.md` shows the layers that the tidy tests hold.
///
/// With `RECORD=1` in the environment, the test writes its table.
@Suite(.tags(.unit)) struct LayerTableTests {
  private static let page = "ARCHITECTURE.md"

  @Test func theArchitectureShowsTheLayersThatTestsHold() throws {
    let text = try #require(try Project.checkout.get().texts[Self.page])
    let lines = text.split(separator: "\n", omittingEmptySubsequences: false).map(String.init)
    let start = try #require(lines.firstIndex { $0.hasPrefix("| Folder |") })
    let end = lines[start...].firstIndex { !$0.hasPrefix("|") } ?? lines.endIndex
    guard ProcessInfo.processInfo.environment["RECORD"] == "1" else {
      #expect(Array(lines[start..<end]) == Project.layerTable, "run the test with RECORD=1")
      return
    }
    let wanted = lines[..<start] + Project.layerTable + lines[end...]
    let root = URL(filePath: #filePath).resolvingSymlinksInPath()
      .deletingLastPathComponent().appending(path: "../../..").standardized
    try Data(wanted.joined(separator: "\n").utf8).write(to: root.appending(path: Self.page))
  }

  @Test func aLayerThatKnowsMostOfThoseAboveSaysWhichItDoesNot() {
    let above = ["A", "B", "C", "D", "E"].map { Layer($0, "") }
    #expect(Layer("F", "").known(besides: above) == "")
    #expect(Layer("F", "", knows: "B", "A").known(besides: above) == "A, B")
    #expect(Layer("F", "", knowsAllOf: above).known(besides: above) == "all above")
    #expect(
      Layer("F", "", knowsAllOf: above.dropLast(), and: "G").known(besides: above)
        == "all above except E; G")
  }
}
