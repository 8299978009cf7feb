import ArgumentParser
import RecordFormats
import Testing

@testable import ModelStore
@testable import StoreCommand

@Suite(.tags(.process)) struct CommandContextTests {
  private func console() -> Console {
    let terminal = Terminal(
      isInteractive: false, width: nil, palette: Palette(isColoured: false))
    return Console(
      data: Collected().sink, dataTerminal: terminal, talk: Collected().sink,
      talkTerminal: terminal)
  }

  @Test(arguments: [
    ["insert", "Track"], ["update", "Track", "1", "a=1"], ["delete", "Track", "1"],
    ["import", "x.csv", "--model", "Track"], ["adopt"],
    ["rules", "add", "Track", "--required", "a"], ["rules", "drop", "r"],
    ["rules", "rebuild"], ["bindings", "drop", "b"], ["bindings", "rebuild"],
  ])
  func everyWritingCommandWaitsForTheRequestedTime(words: [String]) throws {
    let parsed = try StoreCLI.parseAsRoot(words + ["--busy-timeout", "0.25", "-n"])
    let command = try #require(parsed as? any ChangingCommand)
    let context = CommandContext(command, console: console())
    #expect(context.busyTimeout == .seconds(0.25))
    #expect(context.isDryRun)
  }

  @Test func aCommitOfUnknownOutcomeIsNotReportedAsUnchanged() throws {
    let place = try Workplace()
    try place.makeMusic()
    try place.write("id,name,founded\n100,A,1960\n", to: "in.csv")
    let store = try Store(at: place.path("music.store"))
    _ = try store.engine.connections.writer.sync { writer in
      writer.noting(
        ConnectionFailure(
          moment: .commit, failure: SQLiteError(code: .ioFailure, message: "disk I/O error"),
          cause: nil))
    }
    let schema = try store.schema.model(named: "Artist")
    var importing = Importing(
      sources: [
        Importing.Source(
          input: try RecordInput(
            path: place.path("in.csv"), schema: schema, options: RecordInput.Options(),
            from: InputFiles(surroundings: .process)),
          writing: RecordWriting(
            mode: .insert, identity: try RecordIdentity(of: schema, names: nil)))
      ], store: store, rejects: nil, console: console(),
      plan: Importing.Plan(stopsAtError: true, batchCount: 1, isDryRun: false))
    let error = #expect(throws: CommandError.self) { try importing.run() }
    #expect(error?.code == "outcomeUnknown")
    #expect(error?.details == ["  whether the last transaction was written is unknown"])
  }
}
