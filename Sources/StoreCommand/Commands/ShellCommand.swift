import ArgumentParser
import RecordFormats

/// `shell`: an interactive session on one open store.
struct ShellCommand: LeafCommand {
  static let configuration = CommandConfiguration(
    commandName: "shell", abstract: "Run commands and SQL on one open store.",
    discussion: """
      Examples: storecli shell -d music.store
      storecli shell < script.txt
      Type commands without the program's name, quoted as in a shell, or SQL up to a semicolon. Rules \
      and bindings hold for SQL too, and its changes are reported and recorded. The common options \
      are defaults for every command of the session.
      begin, commit and rollback put several statements in one transaction. While it is open, the \
      prompt shows * and its age, and no other program can write; the session warns after a minute \
      without a statement. A refused statement is undone alone. Validators and references are judged \
      at commit. If they refuse, the transaction stays open, so that you can correct it. The file \
      has no part of a transaction that was not committed.
      $_ names the keys of the last result, at most 1,000: as words in get Track $_, as a list in \
      query Track 'id in $_' and in SQL. Of an SQL result, it names the values of the first column.
      watch on shows what other programs commit, above the prompt. It needs the change journal.
      Tab completes commands, models, fields, keys, bindings, rules and SQL. Inputs are kept in \
      $XDG_STATE_HOME/storecli/history (~/.local/state), which only you can read. An input that \
      begins with a blank is not kept.
      Without a terminal, standard input is a script: one command on each line. It ends at the first \
      command that fails, with its exit status. A transaction that is open then is rolled back.
      """)

  @Flag(help: "In a script, go on after a command fails; exit with the first failure's status.")
  var keepGoing = false

  @Flag(help: "Neither read nor keep earlier inputs.")
  var noHistory = false

  @Option(
    help: ArgumentHelp(
      "How long to wait for another writer, in seconds.", valueName: "seconds"))
  var busyTimeout: Double = 5

  @OptionGroup(title: "Common options") var options: GlobalOptions

  var takesFields: Bool { false }

  func validate() throws {
    guard (0...86_400).contains(busyTimeout) else {
      throw ValidationError("--busy-timeout takes 0 to 86400 seconds.")
    }
  }

  func run(_ context: CommandContext) throws -> ExitCode {
    let kept = KeptStore(context)
    _ = try kept.store(writing: false)
    let console = context.console
    guard context.surroundings.canPrompt(on: console), let mode = TerminalMode() else {
      let input = ScriptInput(context.surroundings.input, promptingOn: nil)
      return Session(
        context, kept, input, policy: keepGoing ? .goOn : .stop, feed: nil
      ).run()
    }
    Interruption.await()
    let keyboard = try TerminalInput(mode)
    let feed = ChangeFeed(on: console.talkTerminal) { keyboard.ring() }
    if console.loudness >= .usual {
      console.warn("\(kept.name): help explains the session, exit or Ctrl-D leaves it")
    }
    guard context.surroundings.canDraw else {
      let input = ScriptInput(context.surroundings.input, promptingOn: console)
      return Session(context, kept, input, policy: .ignore, feed: feed).run()
    }
    let completion = SessionCompletion(kept)
    let input = PromptInput(
      keyboard, on: console,
      history: noHistory ? nil : HistoryFile(in: context.surroundings),
      size: { context.surroundings.console().talkTerminal },
      completions: { completion.candidates(before: $0) })
    return Session(context, kept, input, policy: .ignore, feed: feed).run()
  }
}
