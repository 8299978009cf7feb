import ArgumentParser
import Testing

@testable import ModelStore
@testable import StoreCommand

@Suite struct CommandContextTests {
  private func console() -> Console {
    let terminal = Terminal(
      isInteractive: false, width: nil, palette: Palette(isColoured: false))
    return Console(
      data: Collected().sink, dataTerminal: terminal, talk: Collected().sink,
      talkTerminal: terminal)
  }

  @Test func everyOpeningOfAWriteWaitsAsLongAsAsked() throws {
    let place = try Workplace()
    try place.makeMusic()
    let options = try GlobalOptions.parse(["-d", place.path("music.store")])
    let write = try WriteOptions.parse(["--busy-timeout", "0.25"])
    let context = CommandContext(options: options, console: console())
    let looked = try #require(try context.openToLook(write))
    #expect(looked.store.core.configuration.busyTimeout == .seconds(0.25))
    looked.store.close()
    let written = try context.openForWriting(write)
    #expect(written.store.core.configuration.busyTimeout == .seconds(0.25))
    written.store.close()
  }

  @Test func aCommitOfUnknownOutcomeIsNotSaidToBeNothing() throws {
    let place = try Workplace()
    try place.makeMusic()
    try place.write("id,name,founded\n100,A,1960\n", to: "in.csv")
    let store = try Store(at: place.path("music.store"))
    _ = try store.core.writer.sync { writer in
      writer.noting(
        ConnectionFailure(
          moment: .commit, failure: SQLiteError(code: .ioFailure, message: "disk I/O error"),
          cause: nil))
    }
    let schema = try store.schema.model(named: "Artist")
    var importing = Importing(
      input: try RecordInput(
        path: place.path("in.csv"), schema: schema, options: RecordInput.Options(), refusing: []),
      schema: schema, store: store, rejects: nil, console: console(),
      plan: Importing.Plan(isUpsert: false, stopsAtError: true, batchCount: 1, isDryRun: false))
    let error = #expect(throws: CommandError.self) { try importing.run() }
    #expect(error?.code == "outcomeUnknown")
    #expect(error?.details == ["  whether the last transaction was written is unknown"])
  }
}
