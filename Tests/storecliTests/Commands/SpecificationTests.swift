import ArgumentParser
import RecordFormats
import Testing

@testable import StoreCommand

/// `spec` and `man`: the command tree for tools, and as manual pages.
@Suite(.tags(.process)) struct SpecificationTests {
  @Test func everyCommandIsThere() throws {
    func names(_ command: any ParsableCommand.Type, _ path: [String]) -> [[String]] {
      command.configuration.subcommands.flatMap { child in
        let path = path + [child.configuration.commandName ?? ""]
        return [path] + names(child, path)
      }
    }
    let program = try CommandSpecification.program()
    #expect(program.all.dropFirst().map(\.path) == names(StoreCLI.self, []))
    #expect(program.command(at: ["rules", "add"])?.path == ["rules", "add"])
    #expect(program.command(at: ["rules", "nothing"]) == nil)
    for command in program.all { #expect(!command.abstract.isEmpty, "\(command.path)") }
  }

  @Test func optionsHaveTheirTypes() throws {
    let program = try CommandSpecification.program()
    func types(_ path: String...) throws -> [String: CommandSpecification.ValueType] {
      let command = try #require(program.command(at: path[...]))
      return Dictionary(
        uniqueKeysWithValues: command.parameters.map {
          ($0.names.last ?? $0.valueName ?? "", $0.type)
        })
    }
    let query = try types("query")
    #expect(query["--limit"] == .integer && query["--offset"] == .integer)
    #expect(query["--count"] == .boolean && query["--nul"] == .boolean)
    #expect(query["--output"] == .choice && query["--db"] == .file)
    #expect(query["model"] == .text && query["--sum"] == .text)
    #expect(try types("update")["--busy-timeout"] == .number)
    let output = try #require(
      program.command(at: ["query"])?.parameters.first { $0.names.contains("--output") })
    #expect(output.choices == OutputFormat.allCases.map(\.rawValue) && output.isCommon)
  }

  @Test func theJSONIsAContract() throws {
    let outcome = try Workplace().run("spec")
    #expect(outcome.code == 0)
    #expect(
      outcome.out.hasPrefix(
        #"{"spec":1,"program":"storecli","version":"\#(VersionCommand.number)","abstract":""#))
    guard case .object(let members) = try JSONParser.value(of: outcome.out.utf8) else {
      Issue.record("no object")
      return
    }
    #expect(
      members.map(\.name) == [
        "spec", "program", "version", "abstract", "commonOptions", "commands", "exitCodes",
        "topics",
      ])
    #expect(outcome.out.contains(#"{"code":64,"meaning":"wrong usage"}"#))
    #expect(
      outcome.out.contains(
        ##"{"names":["--limit"],"value":"n","type":"integer","optional":true,"repeating":false,"default":null,"help":"The most records to show."}"##
      ))
    // Common options stand once.
    #expect(outcome.out.matches(of: /"--no-pager"/).count == 1)
    #expect(try Workplace().run("spec", "--csv").code == 64)
  }

  @Test func aPageHasEverySection() throws {
    let outcome = try Workplace().run("man", "rules", "add")
    #expect(outcome.code == 0)
    let lines = outcome.out.split(separator: "\n")
    #expect(lines[0].hasPrefix(".TH \"STORECLI\\-RULES\\-ADD\" \"1\" \"\" \"storecli "))
    #expect(
      lines.filter { $0.hasPrefix(".SH") } == [
        ".SH NAME", ".SH SYNOPSIS", ".SH DESCRIPTION", ".SH ARGUMENTS", ".SH OPTIONS",
        ".SH COMMON OPTIONS", ".SH EXIT STATUS", ".SH SEE ALSO",
      ])
    #expect(lines.contains(".BR storecli\\-rules (1)"))
    let unknown = try Workplace().run("man", "qurey")
    #expect(unknown.code == 64 && unknown.err.contains("did you mean query?"))
  }

  @Test func allPagesAreInstalled() throws {
    let place = try Workplace()
    let outcome = try place.run("man", "--install", place.path("man"))
    let count = try CommandSpecification.program().all.count
    #expect(
      outcome == Outcome(code: 0, out: "", err: "\(count) pages to \(place.path("man"))/man1\n"))
    #expect(try place.contents(of: "man/man1/storecli-query.1") == place.run("man", "query").out)
    #expect(try place.run("man", "--install", "/dev/null/x").code == 1)
    try place.write("", to: "file")
    let refused = try place.run("man", "--install", "file")
    #expect(
      refused.code == 1 && refused.err.contains("cannot create the directory file: File exists"),
      "\(refused)")
    #expect(try place.run("man", "query", "--install", place.path("man")).code == 64)
  }
}
