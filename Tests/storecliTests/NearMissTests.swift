import Testing

@testable import StoreCommand

@Suite(.tags(.unit)) struct NearMissTests {
  @Test(arguments: [
    ("kitten", "sitting", 3), ("ab", "ba", 1), ("ca", "abc", 2), ("", "abc", 3), ("abc", "", 3),
    ("same", "same", 0), ("title", "tilte", 1), ("a cat", "an abct", 3),
  ])
  func distanceIsDamerauLevenshtein(first: String, second: String, expected: Int) {
    #expect(NearMiss.distance(Array(first), Array(second)) == expected)
    #expect(NearMiss.distance(Array(second), Array(first)) == expected)
  }

  @Test(arguments: [
    ("peopl", ["people", "places", "pets"], ["people"]),
    ("tilte", ["title", "due", "done", "tile"], ["title", "tile"]),
    ("TODO", ["Todo", "Project"], ["Todo"]),
    ("proj", ["Todo", "Project", "Prop"], ["Project", "Prop"]),
    ("x", ["y", "z", "due"], []),
    ("xy", ["x", "due"], ["x"]),
    ("", ["a", "b"], []),
    ("wholly", ["different", "words"], []),
    ("same", ["same"], []),
  ])
  func suggestsSimilarWords(word: String, candidates: [String], expected: [String]) {
    #expect(NearMiss.suggestions(for: word, among: candidates) == expected)
  }

  @Test func suggestsNoMoreThanTheLimitNearestFirst() {
    let names = ["trackc", "tracker", "track", "truck"]
    #expect(NearMiss.suggestions(for: "trac", among: names, limit: 2) == ["trackc", "tracker"])
    #expect(NearMiss.suggestions(for: "trucks", among: names, limit: 2) == ["truck", "trackc"])
  }
}
