import Foundation
import Testing

/// `Documentation/Acceptance.md` names the tests that carry each id.
///
/// With `RECORD=1` in the environment, the test writes the names into the page.
@Suite(.tags(.unit)) struct AcceptancePageTests {
  @Test func thePageNamesTheTestsThatCarryEachID() throws {
    let project = try Project.checkout.get()
    let page = try #require(project.texts[Project.acceptancePage])
    let lines = page.split(separator: "\n", omittingEmptySubsequences: false).map(String.init)
    let wanted = Project.acceptancePage(lines, naming: project.carriedIDs)
    if ProcessInfo.processInfo.environment["RECORD"] == "1" {
      let root = URL(filePath: #filePath).resolvingSymlinksInPath()
        .deletingLastPathComponent().appending(path: "../../..").standardized
      try Data(wanted.joined(separator: "\n").utf8)
        .write(to: root.appending(path: Project.acceptancePage))
    } else {
      #expect(lines == wanted, "run the test with RECORD=1")
    }
  }

  @Test func theThirdColumnIsRecorded() {
    let project = Project(texts: [
      "Tests/A/SongTests.swift": """
      @Test("P1 P2 adds up", arguments: 1...3)
      func addsUp(seed: Int) {}
      @Test(
        "P1 every commit arrives")
      func everyCommitArrives() {}
      @Test("SHA256 of nothing") func hashes() {}
      @Test(arguments: ["P3"]) func loops(word: String) {}
      """
    ])
    let page = [
      "| Id | Rule | Tests |", "| P1 | One. | old |", "| P2 | Two. | |", "| P3 | No. | x |",
    ]
    #expect(
      Project.acceptancePage(page, naming: project.carriedIDs) == [
        "| Id | Rule | Tests |",
        "| P1 | One. | `SongTests/addsUp`, `SongTests/everyCommitArrives` |",
        "| P2 | Two. | `SongTests/addsUp` |",
        "| P3 | No. | |",
      ])
  }
}
