import Foundation
import Testing

@Suite struct BindingsCommandTests {
  @Test func whatIsFoundIsMended() throws {
    let place = try Workplace()
    try place.makeMusic()
    let clean = try place.run("bindings", "check")
    #expect(clean.code == 0, "\(clean)")
    let raw = try RawDatabase(place.path("music.store"))
    let trigger = try raw.value(
      "SELECT name FROM sqlite_schema WHERE name LIKE '\\_ms\\_binding%source\\_update' ESCAPE '\\'"
    )
    try raw.execute("DROP TRIGGER \"\(trigger)\"")
    try raw.execute("UPDATE Artist SET name = 'Nobody' WHERE id = 1")
    let found = try place.run("bindings", "check", "-q")
    #expect(found.code == 2)
    #expect(found.out == "Album.artistName\t\(trigger)\t3\n")
    let skipping = ["bindings", "rebuild", "--skip-code-validators"]
    let previewed = try place.run(skipping + ["--dry-run"])
    #expect(previewed.code == 0)
    #expect(previewed.err.contains("Album.artistName: 3 records put right"))
    #expect(try place.run("bindings", "check").code == 2)
    let mended = try place.run(skipping)
    #expect(mended.code == 0, "\(mended)")
    #expect(mended.err.contains("Album.artistName: 3 records put right"))
    #expect(try place.run("bindings", "check").code == 0)
    #expect(try place.run("doctor", "-q").code == 0)
  }

  @Test func aBindingIsDroppedByName() throws {
    let place = try Workplace()
    try place.makeMusic()
    let near = try place.run("bindings", "drop", "Album.artistNam")
    #expect(near.code == 3)
    #expect(near.err.contains("did you mean Album.artistName?"))
    #expect(try place.run("bindings", "drop", "Album.artistName", "-n").code == 0)
    #expect(try place.run("bindings", "list", "-q").out != "")
    let dropped = try place.run("bindings", "drop", "Album.artistName")
    #expect(dropped.code == 0, "\(dropped)")
    #expect(try place.run("bindings", "list", "-q").out == "")
    #expect(try place.run("update", "Artist", "1", "name=Someone").code == 0)
    #expect(
      try place.run("query", "Album", "artistName == 'Someone'", "--count", "-q").out == "0\n")
  }
}
