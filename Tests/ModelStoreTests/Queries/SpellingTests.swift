import Testing

@testable import ModelStore

@Suite(.tags(.unit)) struct SpellingTests {
  private let names = ["Album", "Artist", "Track", "Playlist", "PlaylistTrack", "Order Details"]

  @Test(arguments: [
    ("album", ["Album"]), ("Albmu", ["Album"]), ("Trak", ["Track"]), ("Traack", ["Track"]),
    ("Play", ["Playlist", "PlaylistTrack"]), ("Invoice", []), ("", []), ("x", []),
    ("order detail", ["Order Details"]), ("Artits", ["Artist"]),
  ])
  func similarNamesAreFound(word: String, wanted: [String]) {
    #expect(Spelling.suggestions(for: word, among: names) == wanted)
  }

  @Test func theNearestComeFirstAndAtMostThree() {
    #expect(
      Spelling.suggestions(
        for: "title", among: ["titles", "tile", "title_2", "tidle", "Title", "x"])
        == ["Title", "tidle", "tile"])
  }
}
