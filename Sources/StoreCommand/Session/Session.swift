import ModelStore
import RecordFormats

/// An interactive session on one store: reads inputs, runs them, and holds a transaction between
/// them.
///
/// The body of a transaction is a second run of ``loop()`` inside the closure of the write. So the
/// transaction lives on this thread, and ends however the loop ends.
final class Session {
  /// What a session does after a command has failed.
  enum FailurePolicy {
    /// It ends with the command's status.
    case stop
    /// It goes on, and ends with the status of the first failure.
    case goOn
    /// It goes on, and ends with 0: a person has read the error.
    case ignore
  }

  /// Why the loop ended.
  private enum Ending: Equatable {
    case left(ExitCode)
    case committed
    case rolledBack
    /// SQLite has rolled the transaction back.
    case lost
  }

  let context: CommandContext
  let kept: KeptStore
  var lastResult = LastResult()
  private var input: any SessionInput
  private let policy: FailurePolicy
  private let feed: ChangeFeed?
  private var firstFailure = ExitCode.ok
  private var warnedMinutes: Int64 = 0

  /// - Parameter feed: Shows the commits of other programs; nil where there is no prompt.
  init(
    _ context: CommandContext, _ kept: KeptStore, _ input: any SessionInput,
    policy: FailurePolicy, feed: ChangeFeed?
  ) {
    self.context = context
    self.kept = kept
    self.input = input
    self.policy = policy
    self.feed = feed
    kept.onChange = { [weak feed] in feed?.follow($0) }
  }

  /// Runs inputs until there is no more.
  ///
  /// - Returns: The exit status.
  func run() -> ExitCode {
    defer { kept.close() }
    guard case .left(let code) = loop() else { return firstFailure }
    return code
  }

  /// How results and errors are written where a command does not say.
  var options: GlobalOptions { context.options }

  private var isInTransaction: Bool { kept.transaction != nil }

  private func loop() -> Ending {
    while true {
      if Interruption.isTermination { return .left(.terminated) }
      if isScript, Interruption.isRequested { return .left(.interrupted) }
      // At a prompt, a Ctrl-C that ended the last command is over.
      Interruption.await()
      resumeFeed()
      do {
        switch try input.next(prompt) {
        case .cleared: continue
        case .terminated: return .left(.terminated)
        case .closed: return .left(isInTransaction ? .failed : firstFailure)
        case .ended: if let ending = end() { return ending }
        case .text(let text, let line): if let ending = run(text, line) { return ending }
        }
      } catch {
        return .left(report(error))
      }
    }
  }

  /// A command that opens the file in its own way has closed the store that the feed reads.
  private func resumeFeed() {
    guard let feed, feed.isOn, !isInTransaction else { return }
    do {
      _ = try kept.store(writing: false)
    } catch {
      feed.fail(error)
    }
  }

  /// The input has ended.
  private func end() -> Ending? {
    guard isInTransaction else { return .left(firstFailure) }
    let problem = CommandError(
      .failed, code: "openTransaction", "A transaction is open.", hint: "commit, or rollback")
    let code = report(problem)
    return policy == .ignore ? nil : .left(code)
  }

  private func run(_ text: String, _ number: Int?) -> Ending? {
    for line in ShellLine.lines(of: text) {
      let ending: Ending?
      let code: ExitCode
      switch line {
      case .exit:
        (ending, code) = isInTransaction ? (end(), .failed) : (.left(firstFailure), .ok)
      case .begin: (ending, code) = begin()
      case .commit: (ending, code) = commit()
      case .rollback:
        let refusal = isInTransaction ? nil : report(Self.noTransaction)
        (ending, code) = (refusal == nil ? .rolledBack : nil, refusal ?? .ok)
      default: (ending, code) = (nil, perform(line))
      }
      if var transaction = kept.transaction {
        guard transaction.held.isOpen else { return .lost }
        transaction.lastUse = .now
        transaction.statementCount += line == .begin || code != .ok ? 0 : 1
        kept.transaction = transaction
      }
      if let ending { return ending }
      guard code != .ok else { continue }
      if let ending = fail(code, text, number) { return ending }
      // Ctrl-C discards the rest of an input.
      if code == .interrupted { return nil }
    }
    return nil
  }

  /// A command has failed.
  private func fail(_ code: ExitCode, _ text: String, _ number: Int?) -> Ending? {
    if code == .terminated || code == .interrupted && isScript { return .left(code) }
    if firstFailure == .ok, policy == .goOn { firstFailure = code }
    guard policy == .stop else { return nil }
    if let number {
      context.console.warn(
        "stopped at line \(number): \(CellText.visible(DisplayWidth.truncated(text, to: 60)))")
    }
    return .left(code)
  }

  private func perform(_ line: ShellLine) -> ExitCode {
    defer { lastResult.endCommand() }
    do {
      switch line {
      case .command(let words): return context.run(try lastResult.expanded(words), in: self)
      case .reading(let sql):
        return context.run(["query", "--sql", try lastResult.expanded(sql: sql)], in: self)
      case .writing(let sql):
        return SessionStatement(sql: try lastResult.expanded(sql: sql)).run(in: self)
      case .help(let words): return try help(words)
      case .watch(let isOn): return try watch(isOn)
      case .habit(let habit):
        throw CommandError.usage("There is no command \(habit.word) here.", hint: habit.hint)
      case .begin, .commit, .rollback, .exit: return .ok
      }
    } catch {
      return report(error)
    }
  }

  /// Whether standard input is a script, so that commands cannot read it.
  var isScript: Bool { policy != .ignore }

  /// The models of the store; none if it cannot be read, since they only make a hint better.
  var modelNames: [String] {
    do {
      return try kept.store(writing: false).store.schema.models.map(\.name)
    } catch {
      return []
    }
  }

  /// Refuses what a command of a session cannot have, and gives the store free for a command that
  /// opens it in its own way.
  func admit(_ command: any LeafCommand) throws {
    guard command.options.database == nil, !command.options.sharedWithGroup else {
      throw CommandError.usage(
        "The session has \(kept.name) open.", hint: "leave, and open the other file with -d")
    }
    guard !(command is ShellCommand) else {
      throw CommandError.usage("This is a session already.", hint: "help")
    }
    let use = StoreUse(of: command)
    let busyTimeout = (command as? any ChangingCommand)?.change.busyTimeout ?? 5
    guard busyTimeout == 5 || use == .own else {
      throw CommandError.usage(
        "The session decides how long to wait for other writers.",
        hint: "storecli shell --busy-timeout SECONDS")
    }
    guard !isInTransaction || use == .transaction else {
      throw CommandError.usage(
        "A transaction is open; this command needs the store without one.",
        hint: "commit, or rollback")
    }
    if use == .own { kept.close() }
  }

  private func help(_ words: [String]) throws -> ExitCode {
    guard words.isEmpty else { return context.run(["help"] + words, in: self) }
    try context.console.writeLine(SessionHelp.text)
    try context.console.finish()
    return .ok
  }

  private func watch(_ isOn: Bool) throws -> ExitCode {
    guard let feed else {
      throw CommandError.usage(
        "watch on shows changes above a prompt, and there is none.", hint: "storecli watch")
    }
    guard isOn else {
      feed.end()
      return .ok
    }
    try feed.begin(try kept.store(writing: false).store)
    try context.console.say("showing the changes of other programs (watch off ends it)")
    return .ok
  }

  /// Prints a failure.
  @discardableResult
  func report(_ error: any Error) -> ExitCode {
    Program.reporting(
      CommandError(error), to: context.console, as: options.errorFormat)
  }
}

// Transactions.
extension Session {
  private static let noTransaction = CommandError.usage(
    "No transaction is open.", hint: "begin")

  private func begin() -> (Ending?, ExitCode) {
    guard !isInTransaction else {
      return (
        nil, report(CommandError.usage("A transaction is open.", hint: "commit, or rollback"))
      )
    }
    struct RolledBack: Error {}
    var ending = Ending.rolledBack
    var warned = WarnedRecords()
    do {
      let opened = try kept.store(writing: true)
      let changes = try opened.store.writeReturningChanges { write in
        let held = try HeldTransaction(write, of: opened.store)
        kept.transaction = OpenTransaction(held: held, start: .now, lastUse: .now)
        defer { kept.transaction = nil }
        warnedMinutes = 0
        try context.console.say("begun; other programs cannot write until commit or rollback")
        ending = loop()
        // If SQLite has rolled the transaction back, the store says so.
        guard ending == .committed || ending == .lost else { throw RolledBack() }
        write.reviewWarnings { warned = $0 }
      }.changes
      let report = ChangeReport(changes, in: opened.store.schema)
      try context.console.say(
        report.lines.isEmpty ? "committed; no record changed" : "committed: \(report.summary)")
      context.warn(of: warned)
      return (nil, .ok)
    } catch is RolledBack {
      context.console.warn("rolled back; nothing of the transaction was written")
      if case .left = ending { return (ending, .ok) }
      return (nil, .ok)
    } catch {
      return (nil, report(error))
    }
  }

  /// Ends the transaction if nothing refuses it; otherwise it stays open, to be corrected.
  private func commit() -> (Ending?, ExitCode) {
    guard let transaction = kept.transaction else { return (nil, report(Self.noTransaction)) }
    do {
      try transaction.held.judge()
      return (.committed, .ok)
    } catch {
      let code = report(error)
      context.console.warn("the transaction is still open: correct it, or rollback")
      return (nil, code)
    }
  }

  /// What the prompt shows now.
  private func prompt() -> SessionPrompt {
    let name = kept.name
    var prompt = SessionPrompt(text: "\(name)> ", notices: feed?.take() ?? [])
    guard let transaction = kept.transaction else { return prompt }
    let now = ContinuousClock.Instant.now
    prompt.text = "\(name)* \(SessionAge(now - transaction.start).text)> "
    prompt.pause = 1_000
    let idle = SessionAge(now - transaction.lastUse).minutes
    if idle > warnedMinutes {
      let age = Grouped.text(Int(SessionAge(now - transaction.start).minutes), "minute")
      prompt.notices.append(
        "the transaction has been open for \(age), and other programs cannot write: commit, or rollback"
      )
    }
    warnedMinutes = idle
    return prompt
  }
}
