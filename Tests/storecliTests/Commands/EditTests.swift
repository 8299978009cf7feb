import Foundation
import ModelStore
import Testing

@testable import StoreCommand

/// `update --edit`. An editor is a script here, as a person's editor is a program.
@Suite(.tags(.process)) struct EditTests {
  private func music() throws -> Workplace {
    let place = try Workplace()
    try place.makeMusic()
    return place
  }

  /// Runs the command with an editor that is a line of the shell; `$1` is the file.
  private func edit(
    _ words: [String] = ["Artist", "3"], with script: String, in place: Workplace
  ) throws -> Outcome {
    try place.write("#!/bin/sh\n" + script + "\n", to: "editor")
    chmod(place.path("editor"), 0o755)
    place.environment["EDITOR"] = place.path("editor")
    return try place.run(["update"] + words + ["--edit"])
  }

  private func name(_ place: Workplace) throws -> String {
    try place.run("get", "Artist", "3", "--fields", "name").out
  }

  @Test func thePersonSeesTheRecordAndChangedFieldsAreWritten() throws {
    let place = try music()
    let outcome = try edit(
      with: "cp \"$1\" '\(place.path("seen"))'; sed -i 's/^founded = .*/founded = 1977/' \"$1\"",
      in: place)
    #expect(outcome.code == 0 && outcome.out.hasPrefix("~ Artist 3  founded: "), "\(outcome)")
    #expect(outcome.out.contains(" -> 1977\n") && !outcome.out.contains("name"))
    let seen = try place.contents(of: "seen").split(separator: "\n")
    #expect(seen[0] == "# Artist 3. Change values, then save and leave the editor.")
    #expect(seen.contains { $0.hasPrefix("# id = 3   (the key)") })
    #expect(
      seen.contains { $0.hasPrefix("name = ") } && seen.contains { $0.hasPrefix("founded = ") })
    #expect(try place.run("get", "Artist", "3", "--fields", "founded").out == "1977\n")
  }

  @Test(arguments: ["true", "touch \"$1\"", ": > \"$1\"", "sed -i '1i # a comment' \"$1\""])
  func anUnchangedTextWritesNothing(script: String) throws {
    let place = try music()
    let before = try Data(contentsOf: place.url("music.store"))
    #expect(
      try edit(with: script, in: place)
        == Outcome(code: 0, out: "", err: "nothing was changed\n"))
    #expect(try Data(contentsOf: place.url("music.store")) == before)
  }

  @Test(arguments: [
    ("sqlite3 @store@ 'DELETE FROM Artist WHERE id = 3'", "There is no Artist 3."),
    ("printf '\\377' >> \"$1\"", "The edited text is not UTF-8; nothing was changed."),
    ("mv @store@ @store@.away", "There is no file at"),
  ])
  func aTextThatCannotBeWrittenIsKept(script: String, message: String) throws {
    let place = try music()
    let store = place.path("music.store")
    let outcome = try edit(
      with: "sed -i 's/^name = .*/name = Mine/' \"$1\"; "
        + script.replacing(Self.place, with: "'\(store)'"), in: place)
    #expect(outcome.code != 0 && outcome.err.contains(message), "\(outcome)")
    let path = try #require(outcome.err.firstMatch(of: /your text is in (.+)/)?.output.1)
    let kept = try Data(contentsOf: URL(fileURLWithPath: String(path)))
    #expect(String(decoding: kept, as: UTF8.self).contains("name = Mine"))
  }

  /// In a script, the path of the database.
  private static let place = "@store@"

  /// The text is in the store then.
  @Test func aReaderThatHasGoneDoesNotKeepTheText() throws {
    let place = try music()
    try place.write(
      """
      #!/bin/sh
      until [ -e gone ]; do :; done
      sed -i 's/^name = .*/name = Mine/' "$1"
      """, to: "editor")
    chmod(place.path("editor"), 0o755)
    place.environment["EDITOR"] = place.path("editor")
    place.environment["TMPDIR"] = place.directory
    let process = try place.process(
      ["-c", "'\(Workplace.program)' update Artist 3 --edit 2>err | { exec <&-; touch gone; }"])
    process.executableURL = URL(fileURLWithPath: "/bin/sh")
    try process.run()
    process.waitUntilExit()
    #expect(try place.contents(of: "err") == "")
    #expect(try name(place) == "Mine\n")
    #expect(try place.names().allSatisfy { !$0.hasPrefix("storecli-edit-") })
  }

  @Test func aFailingEditorWritesNothing() throws {
    let place = try music()
    let before = try name(place)
    let outcome = try edit(with: "sed -i 's/^name = .*/name = X/' \"$1\"; exit 3", in: place)
    #expect(outcome.code == 1 && outcome.err.contains("ended with status 3; nothing was changed"))
    place.environment["EDITOR"] = "no-such-editor"
    let missing = try place.run("update", "Artist", "3", "--edit")
    #expect(missing.code == 1 && missing.err.contains("no-such-editor ended with status 127"))
    #expect(try name(place) == before)
  }

  @Test(arguments: [
    ("s/^founded = .*/founded = long ago/", "founded", "long ago"),
    ("s/^name = .*/nmae = X/", "Artist has no field nmae; did you mean name?", "Line "),
    ("s/^name = .*/name X/", "Write FIELD = VALUE or FIELD:null.", "Line "),
    ("s/^name = .*/name = \"\"\"/", "has no line with \"\"\" at its end.", "Line "),
    ("$ a name = again", "name is given twice.", "Line "),
    ("$ a id = 7", "id cannot be changed here (the key).", "Line "),
  ])
  func aTextThatCannotBeReadIsKeptForThePerson(script: String, first: String, second: String) throws
  {
    let place = try music()
    let before = try name(place)
    let outcome = try edit(with: "sed -i '\(script)' \"$1\"", in: place)
    #expect(outcome.code != 0 && outcome.err.contains(first) && outcome.err.contains(second))
    #expect(outcome.err.contains("Line "), "\(outcome)")
    let path = try #require(outcome.err.firstMatch(of: /your text is in (\S+)/)).output.1
    #expect(FileManager.default.fileExists(atPath: String(path)), "\(outcome)")
    #expect(try name(place) == before)
  }

  @Test func aRefusedValueIsKeptForThePerson() throws {
    let place = try music()
    let outcome = try edit(with: "sed -i 's/^founded = .*/founded = 1700/' \"$1\"", in: place)
    #expect(outcome.code == 4 && outcome.err.contains("must be 1900 to 2100"), "\(outcome)")
    #expect(outcome.err.contains("your text is in "))
  }

  /// On a terminal, the text opens again with the error as a comment.
  @Test func onATerminalItOpensAgain() throws {
    let place = try music()
    try place.write(
      """
      #!/bin/sh
      cat "$1" >> '\(place.path("seen"))'
      if grep -q '^founded = 1700' "$1"; then sed -i 's/^founded = .*/founded = 1970/' "$1"
      elif grep -q '^founded = x' "$1"; then sed -i 's/^founded = .*/founded = 1700/' "$1"
      else sed -i 's/^founded = .*/founded = x/' "$1"; fi
      """, to: "editor")
    chmod(place.path("editor"), 0o755)
    let shown = try PseudoTerminal.run(
      "'\(Workplace.program)' update Artist 3 --edit", in: place.directory,
      environment: [
        "HOME": place.directory, "PATH": "/usr/bin:/bin", "NO_COLOR": "1",
        "TMPDIR": place.directory,
        "STORECLI_DB": place.path("music.store"), "VISUAL": place.path("editor"), "EDITOR": "false",
      ])
    #expect(shown.hasPrefix("~ Artist 3  founded: "), "\(shown)")
    let errors = try place.contents(of: "seen").split(separator: "\n")
      .filter { $0.hasPrefix("# error:") }
    #expect(errors.count == 2, "\(errors)")
    #expect(errors[0].contains("founded") && errors[0].contains("\u{201C}x\u{201D}"), "\(errors)")
    #expect(errors[1].contains("must be 1900 to 2100"), "\(errors)")
    #expect(try place.run("get", "Artist", "3", "--fields", "founded").out == "1970\n")
  }

  /// The store is closed while the person edits, so others can write, and their changes are seen.
  @Test func aChangeMeanwhileIsDetected() throws {
    let place = try music()
    let outcome = try edit(
      with: """
        '\(Workplace.program)' update Artist 3 name=Other -d '\(place.path("music.store"))' -q >"$1.log"
        sed -i 's/^founded = .*/founded = 1999/' "$1"
        """, in: place)
    #expect(outcome.code == 4 && outcome.out.isEmpty, "\(outcome)")
    #expect(outcome.err.contains("error[conflict]: Artist 3 changed while you edited it:"))
    #expect(outcome.err.contains(" -> Other\n") && outcome.err.contains("your text is in "))
    #expect(try place.run("get", "Artist", "3").out.hasPrefix("3\tOther\t"))
    #expect(try !place.run("get", "Artist", "3").out.contains("1999"))
  }

  @Test func aDeletionMeanwhileIsDetected() throws {
    let place = try music()
    let outcome = try edit(
      with: """
        '\(Workplace.program)' delete Artist 3 --yes -q -d '\(place.path("music.store"))' \
        --skip-code-validators >"$1.log"
        sed -i 's/^founded = .*/founded = 1999/' "$1"
        """, in: place)
    #expect(outcome.code == 3 && outcome.err.contains("There is no Artist 3."), "\(outcome)")
  }

  @Test func aDryRunChangesNothing() throws {
    let place = try music()
    let before = try name(place)
    let outcome = try edit(
      ["Artist", "3", "-n"], with: "sed -i 's/^name = .*/name = X/' \"$1\"", in: place)
    #expect(outcome.code == 0 && outcome.err.contains("dry run: nothing was written"), "\(outcome)")
    #expect(try name(place) == before)
  }

  @Test(arguments: [
    ["Artist", "3", "name=x"], ["Artist", "--where", "id = 3"], ["Artist", "3", "--yes"],
  ])
  func itTakesAKeyAlone(words: [String]) throws {
    let place = try music()
    #expect(try edit(words, with: "true", in: place).code == 64)
  }

  @Test func withoutAnEditorAndATerminalItSaysWhatToSet() throws {
    let place = try music()
    let outcome = try place.run("update", "Artist", "3", "--edit")
    #expect(outcome.code == 64 && outcome.err.contains("hint: set EDITOR"), "\(outcome)")
    #expect(try place.run("update", "Artist", "999", "--edit").code == 3)
  }

  private static let schema = ModelSchema(
    name: "Note",
    fields: [
      FieldSchema(name: "id", type: .integer),
      FieldSchema(name: "text", type: .text, isOptional: true),
      FieldSchema(name: "size", type: .real), FieldSchema(name: "at", type: .date),
      FieldSchema(name: "done", type: .boolean), FieldSchema(name: "data", type: .blob),
    ], key: ["id"])

  /// Every text comes back as it was, whatever it contains.
  @Test(arguments: [
    "", " ", "a = b", "# no comment", "null", "null:null", "two\nlines", "\n", "\n\n", "a\n",
    "\"\"\"", "\"\"\"\n\"\"\"\"\nx", "tab\tin", "\ttab first", "trailing ", "x:null", "é\u{301}",
    "\"quoted\"", "a\u{0}b", "\u{1B}[1m", "win\r\nlines",
  ])
  func textsAreKeptExactly(text: String) throws {
    let record = DynamicRecord(
      schema: Self.schema,
      values: [.integer(1), .text(text), .real(0.1), .real(-0.25), .integer(1), .blob([1])])
    let edited = RecordText(of: record, bindings: [:])
    #expect(try edited.changes(in: edited.text()) == [:])
    // As a value that a person wrote.
    let other = DynamicRecord(
      schema: Self.schema,
      values: [.integer(1), .null, .real(0.1), .real(-0.25), .integer(1), .blob([1])])
    let isShown = !text.unicodeScalars.contains { $0 == "\0" || $0 == "\u{1B}" || $0 == "\r" }
    if isShown {
      let text = RecordText(of: other, bindings: [:]).text(changes: ["text": .text(text)])
      #expect(try RecordText(of: other, bindings: [:]).changes(in: text).keys.sorted() == ["text"])
      #expect(
        try RecordText(of: other, bindings: [:]).changes(in: text)["text"] == record.values[1])
    }
  }

  @Test func valuesAreReadAsTheFieldsTypes() throws {
    let record = DynamicRecord(
      schema: Self.schema,
      values: [.integer(1), .text("a"), .real(0.1), .real(0), .integer(1), .blob([1])])
    let text = RecordText(of: record, bindings: [:])
    #expect(
      try text.changes(
        in: "text:null\r\nsize = 2\r\nat = 2001-01-02\r\ndone = no\r\n")
        == [
          "text": .null, "size": .real(2), "at": .real(86400), "done": .integer(0),
        ])
  }
}
