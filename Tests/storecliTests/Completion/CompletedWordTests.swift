import ArgumentParser
import Testing

@testable import StoreCommand

@Suite(.tags(.unit)) struct CompletedWordTests {
  private func word(_ words: String..., at index: Int, inBash: Bool = false) -> CompletedWord {
    CompletedWord(["storecli"] + words, at: index, splitsAtBreaks: inBash)
  }

  @Test func optionsAndTheirValuesAreNotAmongThePositionals() {
    let word = word(
      "-d", "a.db", "get", "--at", "5", "-q", "Track", "1", "x", "--fields", "id", at: 9)
    #expect(word.text == "x")
    #expect(word.commandNames == ["get"])
    #expect(word.positionals == ["Track", "1"])
    #expect(word.others.contains("--fields") && !word.others.contains("x"))
  }

  @Test func anOptionBeforeTheModelSeesTheModelBehindIt() {
    let word = word("query", "--sort", "ti", "Track", at: 3)
    #expect(word.text == "ti" && word.positionals == ["Track"])
  }

  @Test func afterTwoHyphensNoWordIsAnOption() {
    #expect(word("get", "T", "--", "-5", at: 4).followsTerminator)
    #expect(!word("get", "T", "-5", "--", at: 3).followsTerminator)
  }

  @Test func namesOfNestedCommandsAreNotPositionals() {
    let word = word("bindings", "why", "Album.artistName", "", at: 4)
    #expect(word.commandNames == ["bindings", "why"])
    #expect(word.positionals == ["Album.artistName"])
  }

  /// bash takes `=` and `:` for words, and replaces only what follows them.
  @Test func wordsThatBashSplitsAreJoined() {
    let assigned = word(
      "update", "T", "1", "a", "=", "x", "b", "=", "y", at: 9, inBash: true)
    #expect(assigned.text == "b=y" && assigned.positionals == ["T", "1", "a=x"])
    let key = word("get", "-d", "=", "x.db", "T", "12", ":", "3", at: 8, inBash: true)
    #expect(key.text == "12:3" && key.others == ["get", "-d=x.db", "T"])
    #expect(key.offered(["12:30", "12:31", "13:30"], for: .bash) == ["30", "31"])
    let open = word("get", "T", "12", ":", at: 4, inBash: true)
    #expect(open.text == "12:" && open.offered(["12:30", "12:"], for: .bash) == ["30"])
    #expect(word("get", "T", "a=b", at: 3).text == "a=b")
  }

  /// bash passes the words as they are written.
  @Test func wordsOfBashLoseTheirQuotes() {
    let written = word("get", #"my\ table"#, "'a b'", "", at: 4, inBash: true)
    #expect(written.positionals == ["my table", "a b"])
    #expect(word("get", "'open", "", at: 3, inBash: true).positionals == ["'open"])
    #expect(word("get", #"a\ b"#, "", at: 3).positionals == [#"a\ b"#])
  }

  @Test func aListOffersTheNamesThatItLacks() {
    let names = ["id", "title", "plays"]
    #expect(word("get", "T", "--fields", "", at: 4).lists(of: names) == names)
    #expect(
      word("get", "T", "--fields", "id,t", at: 4).lists(of: names) == ["id,title", "id,plays"])
    #expect(
      word("query", "T", "--sort", "-id,-p", at: 4).lists(of: names, after: "-")
        == ["-id,-title", "-id,-plays"])
    #expect(word("query", "T", "--sort", "id,p", at: 4).lists(of: names, after: "-").count == 2)
  }

  @Test func whatAShellWouldInterpretIsQuoted() {
    let word = word("get", "T", "", at: 3)
    let found = [
      "$(touch x)", "a b", "it's", "two\nlines", "tab\there", "turned\u{202E}", "a:b", "a:b",
    ]
    #expect(
      word.offered(found, for: .bash) == ["'$(touch x)'", "'a b'", #"'it'\''s'"#, "a:b"])
    #expect(word.offered(found, for: .zsh) == ["$(touch x)", "a b", "it's", #"a\:b"#])
    #expect(word.offered(found, for: .fish) == ["$(touch x)", "a b", "it's", "a:b"])
  }

  /// Words behind such an option are its values, and not models, keys or fields.
  @Test func everyOptionWithAValueIsKnownWhereWordsAreCompleted() throws {
    var names: Set<String> = []
    for command: any LeafCommand.Type in [
      GetCommand.self, QueryCommand.self, InsertCommand.self, UpdateCommand.self,
      DeleteCommand.self, ExportCommand.self, HistoryCommand.self, WatchCommand.self,
      HashCommand.self, BindingsWhyCommand.self, BindingsDropCommand.self, RulesDropCommand.self,
    ] {
      let help = StoreCLI.helpMessage(for: command, columns: 200)
      for match in help.matches(of: /(?m)^  (-.*?) <[^>]+>/) {
        names.formUnion(match.output.1.split(separator: ", ").map(String.init))
      }
    }
    #expect(names.contains("--db") && names.contains("--at"))
    #expect(names.subtracting(CompletedWord.valueTakers) == [])
  }
}
