import Testing

@testable import StoreCommand

/// Common options before the command.
@Suite(.tags(.process)) struct LeadingOptionsTests {
  @Test(arguments: [
    (["-d", "music.store", "get", "Artist", "1"], ["get", "Artist", "1", "-d", "music.store"]),
    (
      ["--db=music.store", "--json", "query", "Artist", "id < 3"],
      ["query", "Artist", "id < 3", "--db=music.store", "--json"]
    ),
    (
      ["-d", "music.store", "-q", "rules", "list", "Album"],
      ["rules", "list", "Album", "-d", "music.store", "-q"]
    ),
    (
      ["-d", "music.store", "bindings", "-o", "csv"],
      ["bindings", "-d", "music.store", "-o", "csv"]
    ),
    (["-d", "music.store", "help", "query"], ["help", "query"]),
    (["-d", "music.store", "--version"], ["--version"]),
  ])
  func optionsBeforeTheCommandMeanTheSame(leading: [String], trailing: [String]) throws {
    let place = try Workplace()
    try place.makeMusic()
    place.environment = [:]
    let outcome = try place.run(leading)
    let usual = try place.run(trailing)
    #expect(outcome.code == 0 && outcome == usual, "\(outcome)")
  }

  @Test func everyCommonOptionMayStandBeforeTheCommand() throws {
    let help = try Workplace().run("models", "--help").out
    let section = try #require(help.firstRange(of: "\nCOMMON OPTIONS:\n"))
    let names = help[section.upperBound...].split(separator: "\n").flatMap { line in
      line.matches(of: /(?:^ {2}|, )(--?[a-z-]+)/).map { String($0.output.1) }
    }
    #expect(names.contains("-d") && names.contains("--verbose"), "\(names)")
    for name in names {
      let takesValue = LeadingOptions.takingValue.contains(name)
      let words = [name] + (takesValue ? ["value"] : []) + ["models"]
      #expect(LeadingOptions(in: words).rest == ["models"], "\(name)")
    }
  }

  @Test func theUsageDoesNotRepeatTheCommonOptions() throws {
    let help = try Workplace().run("bindings", "list", "--help").out
    #expect(help.contains("\nUSAGE: storecli bindings list [<options>]\n"), "\(help)")
  }

  @Test func theHelpGroupsTheCommands() throws {
    let help = try Workplace().run("--help").out
    let headings = help.split(separator: "\n").filter { $0.hasSuffix("SUBCOMMANDS:") }
    #expect(
      headings == [
        "DATA SUBCOMMANDS:", "SCHEMA SUBCOMMANDS:", "HISTORY SUBCOMMANDS:",
        "SHARED STORES SUBCOMMANDS:", "MAINTENANCE SUBCOMMANDS:",
      ], "\(help)")
  }
}
