import Foundation
import Testing

/// A database that knows nothing of this project becomes a store.
@Suite(.tags(.process)) struct ChinookTests {
  /// The sample lies beside the project where it was fetched; it is not part of it.
  static let sample = URL(fileURLWithPath: #filePath)
    .deletingLastPathComponent().deletingLastPathComponent().deletingLastPathComponent()
    .deletingLastPathComponent().deletingLastPathComponent()
    .appendingPathComponent("shared/data/chinook.sqlite")

  static let isThere = FileManager.default.fileExists(atPath: sample.path)

  private func adopted() throws -> Workplace {
    let place = try Workplace()
    let file = place.path("chinook.sqlite")
    try FileManager.default.copyItem(atPath: Self.sample.path, toPath: file)
    chmod(file, 0o644)
    place.environment["STORECLI_DB"] = file
    let outcome = try place.run("adopt")
    try #require(outcome.code == 0, "\(outcome)")
    return place
  }

  @Test(.enabled(if: isThere, "needs shared/data/chinook.sqlite beside the project"))
  func itsTablesBecomeModels() throws {
    let place = try adopted()
    #expect(
      try place.run("models", "-q", "--json").out.contains(
        #"{"model":"PlaylistTrack","records":8715,"fields":2,"key":"PlaylistId,TrackId""#))
    #expect(
      try place.run(
        "query", "Track", "Milliseconds > 5000000", "--sort", "-Milliseconds", "--fields",
        "TrackId,Name"
      ).out == "2820\tOccupation / Precipice\n3224\tThrough a Looking Glass\n")
    #expect(
      try place.run("get", "PlaylistTrack", "1,3402", "TrackId=3403,PlaylistId=1", "--ndjson").out
        == "{\"PlaylistId\":1,\"TrackId\":3402}\n{\"PlaylistId\":1,\"TrackId\":3403}\n")
  }

  @Test(.enabled(if: isThere, "needs shared/data/chinook.sqlite beside the project"))
  func itsConstraintsAreNamedAndHold() throws {
    let place = try adopted()
    #expect(
      try place.run("update", "Track", "1", "Name:null")
        == Outcome(
          code: 4, out: "",
          err: "error[rejected]: Nothing was changed: Track 1.Name must have a value "
            + "(rule Track.Name.required).\n"
            + "hint: storecli models Track\n"))
    #expect(try place.run("update", "Track", "1", "GenreId=9999").code == 4)
    #expect(try place.run("delete", "Artist", "1").code == 4)
    #expect(
      try place.run("delete", "PlaylistTrack", "1,3402", "--ndjson").out
        == #"{"op":"delete","model":"PlaylistTrack","id":[1,3402],"changes":{"PlaylistId":{"old":1},"TrackId":{"old":3402}},"origin":"user"}"#
        + "\n")
    #expect(try place.run("validate", "-q").code == 0)
    #expect(try place.run("doctor", "-q").code == 0)
  }

  @Test(.enabled(if: isThere, "needs shared/data/chinook.sqlite beside the project"))
  func aTableIsNotAModelBeforeItIsAdopted() throws {
    let place = try Workplace()
    try FileManager.default.copyItem(
      atPath: Self.sample.path, toPath: place.path("chinook.sqlite"))
    chmod(place.path("chinook.sqlite"), 0o644)
    #expect(
      try place.run("query", "Track", "-d", "chinook.sqlite")
        == Outcome(
          code: 3, out: "",
          err: "error[unknownModel]: Track is a table of the database and not yet a model.\n"
            + "hint: storecli adopt Track -d chinook.sqlite\n"))
    #expect(try place.run("adopt", "Track", "-n", "-d", "chinook.sqlite").code == 0)
    #expect(try place.run("models", "-q", "-d", "chinook.sqlite").out == "")
  }
}
