import Foundation
import Testing

@testable import StoreCommand

/// What a person gets who presses TAB. The subject is the built program, asked by a real shell.
@Suite(.tags(.process)) struct ShellCompletionTests {
  private static let directory =
    URL(fileURLWithPath: Workplace.program).deletingLastPathComponent().path

  private func music() throws -> Workplace {
    let place = try Workplace()
    try place.makeMusic()
    return place
  }

  /// The script for bash. A debug build needs half a second for it.
  private static let bashScript = Result { try Workplace().run("completions", "bash").out }

  /// What bash offers for the last of the words, as it splits them.
  private func bash(_ words: String..., in place: Workplace) throws -> [String] {
    let script = try Self.bashScript.get()
    let line = (["storecli"] + words).joined(separator: " ")
    let last = words[words.count - 1]
    let current = ["=", ":"].contains(last) ? "" : last
    try place.write(
      script + """

        PATH='\(Self.directory)':$PATH
        COMP_WORDS=(storecli \(words.map { "'\($0)'" }.joined(separator: " ")))
        COMP_CWORD=\(words.count) COMP_LINE='\(line)' COMP_POINT=\(line.utf8.count)
        _storecli storecli '\(current)' '\(words.dropLast().last ?? "storecli")' 2>/dev/null
        printf '%s\\n' "${COMPREPLY[@]}"
        """, to: "complete.bash")
    let shown = try place.runProcess(launching: ["/bin/bash", "complete.bash"])
    return shown.out.split(separator: "\n").map(String.init).filter { !$0.hasPrefix("-") }
  }

  @Test func bashCompletesKeys() throws {
    let place = try music()
    #expect(
      try bash("get", "Track", "12", in: place) == ["12"] + (120...129).map { "\($0)" } + ["1200"])
    #expect(try bash("get", "Track", "1", "40", in: place).prefix(2) == ["40", "400"])
    #expect(try bash("delete", "Track", "1200", in: place) == ["1200"])
    #expect(try bash("update", "Artist", "3", in: place).first == "3")
    #expect(try bash("history", "Artist", "39", in: place) == ["39"])
    #expect(
      try bash("bindings", "why", "Album.artistName", "11", in: place).prefix(2) == ["11", "110"])
    #expect(try bash("get", "Track", "", in: place).count == KeyCandidates.countMax)
    #expect(try bash("get", "Nothing", "", in: place) == [])
  }

  @Test func bashCompletesFields() throws {
    let place = try music()
    #expect(
      try bash("insert", "Track", "", in: place) == ["id=", "title=", "seconds=", "albumID="])
    #expect(try bash("update", "Track", "1", "s", in: place) == ["seconds="])
    #expect(
      try bash("update", "Track", "1", "title", "=", "x", "", in: place)
        == ["id=", "seconds=", "albumID="])
    #expect(try bash("update", "Track", "1", "title", "=", in: place) == [])
    #expect(try bash("update", "Track", "1", "title", "=", "s", in: place) == [])
    #expect(try bash("update", "Track", "--where", "id=1", "t", in: place) == ["title="])
    #expect(try bash("query", "Track", "--sort", "ti", in: place) == ["title"])
    #expect(try bash("query", "Track", "se", in: place) == ["seconds"])
    #expect(try bash("query", "Track", "--where", "al", in: place) == ["albumID"])
    #expect(try bash("get", "Track", "1", "--fields", "id,t", in: place) == ["id,title"])
    #expect(try bash("models", "--fields", "t", in: place) == [])
    #expect(try bash("rules", "add", "Track", "--required", "ti", in: place) == ["title"])
  }

  @Test func bashCompletesTheValuesOfQueries() throws {
    let place = try music()
    try RawDatabase(place.path("dates.db")).execute(
      "CREATE TABLE Event (id INTEGER PRIMARY KEY, at DATETIME, name TEXT);"
        + "INSERT INTO Event VALUES (1, '2026-01-01 00:00:00', 'x');")
    try #require(try place.run("adopt", "-d", "dates.db").code == 0)
    #expect(try bash("query", "Track", "--by", "al", in: place) == ["albumID"])
    #expect(try bash("query", "Track", "--by", "title,al", in: place) == ["title,albumID"])
    #expect(
      try bash("query", "Event", "-d", "dates.db", "--by", "a", in: place)
        == ["at", "at:year", "at:month", "at:week", "at:day", "at:hour"])
    #expect(try bash("query", "Track", "--sum", "", in: place) == ["id", "seconds", "albumID"])
    #expect(try bash("query", "Track", "--count", "--max", "ti", in: place) == ["title"])
    #expect(try bash("query", "Track", "--expand", "", in: place) == ["albumID"])
    #expect(
      try bash("query", "Track", "--expand", "albumID.a", in: place)
        == ["albumID.artistID", "albumID.artistName"])
    #expect(try bash("get", "Album", "1", "--expand", "", in: place) == ["artistID"])
    #expect(try bash("man", "rul", in: place) == ["rules"])
    #expect(try bash("man", "rules", "ad", in: place) == ["add"])
    #expect(try bash("query", "Track", "-o", "sq", in: place) == ["sql"])
  }

  @Test func bashCompletesNamesInTheFileAndTopics() throws {
    let place = try music()
    try #require(
      try place.run("rules", "add", "Track", "--range", "seconds=1..", "--name", "long").code == 0)
    #expect(try bash("rules", "drop", "l", in: place) == ["long"])
    #expect(try bash("bindings", "drop", "", in: place) == ["Album.artistName"])
    #expect(try bash("bindings", "why", "A", in: place) == ["Album.artistName"])
    #expect(
      try bash("bindings", "add", "derive", "Artist.n", in: place) == ["Artist.name"])
    #expect(try bash("help", "ex", in: place) == ["export", "exit-codes"])
    #expect(try bash("help", "pre", in: place) == ["predicates"])
  }

  @Test func aKeyThatWouldBeAnOptionIsNotOffered() throws {
    let place = try Workplace()
    try RawDatabase(place.path("t.db")).execute(
      "CREATE TABLE T (id INTEGER PRIMARY KEY, n); INSERT INTO T VALUES (-5, 1), (5, 1)")
    place.environment["STORECLI_DB"] = place.path("t.db")
    try #require(try place.run("adopt").code == 0)
    #expect(try fish("get", "T", "", in: place) == ["5"])
    #expect(try fish("get", "T", "-", in: place) == [])
    #expect(try fish("get", "--", "T", "-", in: place) == ["-5"])
  }

  /// What the program tells the script of fish about a key, the last of the words.
  private func fish(_ words: String..., in place: Workplace) throws -> [String] {
    place.environment["SAP_SHELL"] = "fish"
    let shown = try place.runProcess(
      launching: [
        Workplace.program, "---completion", words[0], "--", "positional@1", "\(words.count)", "0",
        "storecli",
      ] + words)
    return shown.out.split(separator: "\n").map(String.init)
  }

  /// bash expands the words that a script offers, which may be data that another person stored.
  @Test func storedTextIsNeverRun() throws {
    let place = try Workplace()
    let names = ["$(touch ran)", "`touch ran`", "a b", "it's"]
    try RawDatabase(place.path("t.db")).execute(
      "CREATE TABLE T (id TEXT NOT NULL PRIMARY KEY, n); INSERT INTO T VALUES "
        + names.map { "('\($0.replacing("'", with: "''"))', 1)" }.joined(separator: ", "))
    place.environment["STORECLI_DB"] = place.path("t.db")
    try #require(try place.run("adopt").code == 0)
    #expect(try Set(bash("get", "T", "", in: place)) == Set(names))
    #expect(!FileManager.default.fileExists(atPath: place.path("ran")))
  }

  @Test func aDatabaseThatCannotBeReadOffersNothing() throws {
    let place = try Workplace()
    try place.write("no database", to: "t.db")
    place.environment["STORECLI_DB"] = place.path("t.db")
    #expect(try bash("get", "T", "", in: place) == [])
    #expect(try bash("get", "", in: place) == [])
  }

  /// The scripts are the parser's own, changed in places that must be there.
  @Test func theScriptsHaveWhatTheParserLacks() throws {
    let place = try Workplace()
    for (shell, parts) in [
      ("bash", ["compopt -o nospace", "'options'$'\\n''exit-codes'"]),
      ("fish", ["storecli help\" -eq 1' -fka '"]),
      ("zsh", ["-- open_completions -S ''", "|*=)}\")", "'*:subcommands:(models "]),
    ] {
      let script = try place.run("completions", shell).out
      for part in parts { #expect(script.contains(part), "\(shell) \(part)") }
      #expect(script.contains("exit-codes"))
    }
  }

  @Test(.enabled("needs zsh") { FileManager.default.isExecutableFile(atPath: "/usr/bin/zsh") })
  func zshCompletes() throws {
    let place = try music()
    try place.write(try place.run("completions", "zsh").out, to: "_storecli")
    for (line, found) in [
      ("get Track 1200", "get Track 1200 "), ("update Track 1 s", "update Track 1 seconds="),
      ("bindings drop A", "bindings drop Album.artistName "), ("help pre", "help predicates "),
      ("query Track --sort ti", "query Track --sort title "),
    ] {
      // A terminal on which TAB is pressed; then the line is printed, not run.
      try place.write(
        #"""
        fpath=($PWD $fpath)
        PATH='\#(Self.directory)':$PATH
        PS1= PROMPT= RPS1=
        autoload -U compinit; compinit -u -D; unsetopt auto_menu
        show() { print -r -- "<<$BUFFER>>"; BUFFER=; }; zle -N show; bindkey "^X" show
        print READY
        """#, to: "start.zsh")
      try place.write(
        #"""
        zmodload zsh/zpty
        zpty z "zsh -f -i"
        zpty -w z 'source ./start.zsh'
        zpty -r z seen '*READY*'
        zpty -w -n z $'storecli \#(line)\t\x18'
        zpty -r z seen '*<<*>>*'
        print -r -- "${${seen##*<<}%%>>*}"
        zpty -d z
        """#, to: "complete.zsh")
      let shown = try place.runProcess(
        launching: ["/usr/bin/timeout", "60", "/usr/bin/zsh", "-f", "complete.zsh"])
      #expect(shown.out == "storecli \(found)\n", "\(line) \(shown)")
    }
  }

  @Test(.enabled("needs fish") { FileManager.default.isExecutableFile(atPath: "/usr/bin/fish") })
  func fishCompletes() throws {
    let place = try music()
    try place.write(try place.run("completions", "fish").out, to: "storecli.fish")
    // A terminal on which TAB is pressed; then the line is printed, not run.
    try place.write(
      #"""
      set -x PATH '\#(Self.directory)' $PATH
      source storecli.fish
      function fish_prompt; end
      function show; echo "<<"(commandline)">>"; commandline ''; end
      bind \cx show
      """#, to: "start.fish")
    for (line, found) in [
      ("get Track 1200", "get Track 1200 "), ("update Track 1 s", "update Track 1 seconds="),
      ("update Track 1 title=x s", "update Track 1 title=x seconds="),
      ("bindings drop A", "bindings drop Album.artistName "), ("help pre", "help predicates "),
      ("query Track --sort ti", "query Track --sort title "),
    ] {
      try place.write("storecli \(line)\t\u{18}exit\n", to: "keys")
      let shown = try place.runProcess(
        launching: [
          "/bin/sh", "-c",
          """
          timeout 60 script -qec "fish --no-config -i -C 'source start.fish'" /dev/null < keys
          """,
        ])
      #expect(shown.out.contains("<<storecli \(found)>>"), "\(line) \(shown)")
    }
  }
}
