import ArgumentParser
public import ModelStore
import RecordFormats
import Synchronization

#if canImport(Glibc)
  import Glibc
#elseif canImport(Musl)
  import Musl
#else
  import Darwin
#endif

/// One run of a command line for a store: from the words of the command line to the exit status.
///
/// `storecli` is this program without declarations. An application that passes its own gets every
/// command under its own name, and its validators judge what these commands write:
///
/// ```swift
/// Program(
///   name: "library", arguments: Array(CommandLine.arguments.dropFirst()),
///   database: path, models: Author.self, validators: [honestTitles]
/// ).runToExit()
/// ```
///
/// Commands that write open the store with the declarations, so that they create missing tables
/// and apply migrations as the application does. Commands that only read take the file as it is.
/// A dry run changes nothing in the file: it is refused until the declarations and migrations are
/// in it, with all their triggers.
public struct Program: Sendable {
  private let name: String
  private let arguments: [String]
  private let application: Application
  private var surroundings = Surroundings.process

  /// The name in help, hints and messages of the process.
  static var name: String { currentName.withLock { $0 } }

  private static let currentName = Mutex("storecli")

  /// The application of the process.
  static var application: Application { currentApplication.withLock { $0 } }

  private static let currentApplication = Mutex(Application())

  /// Creates a run of `storecli`, which declares nothing.
  ///
  /// - Parameter arguments: The words after the program's name.
  public init(arguments: [String]) { self.init(arguments: arguments, makeLedger: nil) }

  /// Creates a run of `storecli` for shared stores.
  ///
  /// - Parameters:
  ///   - makeMirror: Makes a mirror from a connection and the name of its schema.
  ///   - makeLedger: Makes the ledger from a connection and the store's name.
  package init(
    arguments: [String],
    makeMirror: (@Sendable (_ connection: String, _ schema: String) throws -> any RecordMirror)? =
      nil,
    makeLedger: (@Sendable (_ connection: String, _ store: String) throws -> SharedLedger)?
  ) {
    name = "storecli"
    self.arguments = arguments
    application = Application(makeLedger: makeLedger, makeMirror: makeMirror)
  }

  /// Creates a run of an application's own command line.
  ///
  /// - Parameters:
  ///   - name: What people type to run it. Help, hints and messages show it.
  ///   - arguments: The words after the program's name.
  ///   - database: The store's file, for a command line without `-d`. If you pass nil, the commands
  ///     find the file as `storecli` does: `STORECLI_DB`, then `storecli.toml`.
  ///   - models: The models of the application, as `Store(at:models:)` takes them.
  ///   - migrations: The application's migrations.
  ///   - bindings: Fields that the file keeps in sync.
  ///   - rules: Rules beside those in the models' definitions.
  ///   - validators: Rules in Swift that judge every commit of the commands.
  ///   - configuration: How the application opens its store, with the functions that its bindings
  ///     call. The commands choose the access, the busy timeout, the journal mode and the largest
  ///     value themselves.
  public init(
    name: String, arguments: [String], database: String? = nil, models: any Model.Type...,
    migrations: [Migration] = [], bindings: [FieldBinding] = [], rules: [Rule] = [],
    validators: [Validator] = [], configuration: StoreConfiguration = StoreConfiguration()
  ) {
    self.init(
      name: name, arguments: arguments, database: database, models: models,
      migrations: migrations, bindings: bindings, rules: rules, validators: validators,
      configuration: configuration)
  }

  /// Creates a run of an application's own command line with an array of models.
  public init(
    name: String, arguments: [String], database: String? = nil, models: [any Model.Type],
    migrations: [Migration] = [], bindings: [FieldBinding] = [], rules: [Rule] = [],
    validators: [Validator] = [], configuration: StoreConfiguration = StoreConfiguration()
  ) {
    self.name = name
    self.arguments = arguments
    application = Application(
      database: database,
      declarations: Declarations(
        migrations: migrations, models: models, bindings: bindings, rules: rules,
        validators: validators, changeJournal: configuration.changeJournal),
      configuration: configuration)
  }

  /// Runs and ends the process.
  public func runToExit() -> Never {
    Self.currentName.withLock { $0 = name }
    Self.currentApplication.withLock { $0 = application }
    let code = runAsProcess()
    // The signal that waited until the work could stop.
    if code == .terminated { Console.end(by: SIGTERM) }
    exit(code.rawValue)
  }

  /// Runs `storecli` within this process, without its signals and streams. Several runs may proceed
  /// at once.
  ///
  /// - Returns: The exit status.
  package func run(in surroundings: Surroundings) -> Int32 {
    var program = self
    program.surroundings = surroundings
    return program.run(in: nil).rawValue
  }

  /// Creates a run of a command within a session of the running program.
  init(arguments: [String], application: Application, surroundings: Surroundings) {
    name = Self.name
    self.arguments = arguments
    self.application = application
    self.surroundings = surroundings
  }

  private func runAsProcess() -> ExitCode {
    if let problem = ProcessPrivileges.current.problem {
      return Self.reporting(problem, to: surroundings.console(), as: .text)
    }
    // A file size limit is then an error of the write, and does not end the process.
    signal(SIGXFSZ, SIG_IGN)
    EventCommand.admitWaiting()
    Interruption.admit()
    return run(in: nil)
  }

  /// Parses the words of the command line and runs the command.
  ///
  /// - Parameter session: The session that the words are typed in; nil for a command line.
  func run(in session: Session?) -> ExitCode {
    if let problem = UndecodableArgument.problem(in: arguments) {
      let format: CommandError.Format = UnparsedArguments(arguments).wantsJSON ? .json : .text
      return Self.reporting(problem, to: surroundings.console(), as: format)
    }
    let written = AttachedValues.separated(self.arguments)
    let leading = LeadingOptions(in: written)
    if leading.lacksCommand { return refusing(UnparsedArguments(written).unplaced) }
    var arguments = leading.moved
    if arguments.first == "help" { arguments.removeAll { $0 == "--no-pager" } }
    if arguments.first == "help" {
      if let topic = HelpTopic(words: Array(arguments.dropFirst())) { return printing(topic.text) }
      if let error = UnparsedArguments(arguments).unknownCommand {
        return Self.reporting(error, to: surroundings.console(), as: .text)
      }
    }
    if let problem = RepeatedOption.problem(in: arguments) { return refusing(problem) }
    do {
      var command = try Self.parsed(arguments)
      if let leaf = command as? any LeafCommand { return perform(leaf, in: session) }
      // A group without a command, or the parser's own help: running it throws the help.
      try command.run()
      return .ok
    } catch {
      let unparsed = UnparsedArguments(leading.rest)
      if let guess = unparsed.guess(at: { modelNames(written, in: session) }) {
        return refusing(guess.hinting(database: UnparsedArguments(written).database))
      }
      return answer(unparsed, error)
    }
  }

  /// Parses the words of a command line.
  ///
  /// From the root, the parser makes the tree of all commands and reads the words of each group on
  /// the way. A command that runs by itself is parsed alone, which takes a fraction of the time.
  /// For anything else, such as help and mistakes, the words are parsed from the root.
  private static func parsed(_ words: [String]) throws -> any ParsableCommand {
    // What a script of a shell asks for may be a common option.
    if words.first == "---completion" { return try CompletedCLI.parseAsRoot(words) }
    if let (command, rest) = UnparsedArguments(words).leaf {
      if let parsed = command.parsedAlone(rest) { return parsed }
    }
    return try StoreCLI.parseAsRoot(words)
  }

  /// What `find` returns for the database that the words name; nothing if it cannot be read. It
  /// only makes a hint or a completion better, so a failure here must not hide the mistake in the
  /// words. For the same reason it waits for no other program.
  static func found(
    in words: [String], application: Application, in surroundings: Surroundings,
    _ find: (OpenedStore) throws -> [String]
  ) -> [String] {
    let database = UnparsedArguments(words).database
    do {
      let context = CommandContext(
        quietlyReading: database, application: application, surroundings: surroundings)
      let opened = try context.openForReading()
      defer { opened.store.close() }
      return try find(opened)
    } catch {
      return []
    }
  }

  /// The models of the database that the words name.
  private func modelNames(_ words: [String], in session: Session?) -> [String] {
    if let session { return session.modelNames }
    return Self.found(in: words, application: application, in: surroundings) { opened in
      opened.store.schema.models.map(\.name)
    }
  }

  private func refusing(_ error: CommandError) -> ExitCode {
    Self.reporting(
      error, to: surroundings.console(),
      as: UnparsedArguments(arguments).wantsJSON ? .json : .text)
  }

  private func perform(_ command: any LeafCommand, in session: Session?) -> ExitCode {
    let options = session?.options.given(to: command) ?? command.options
    let console = surroundings.console(
      colour: options.color ?? .auto, loudness: options.loudness,
      isPaged: command.isPaged && !options.noPager)
    defer { console.endPaging() }
    let context = CommandContext(
      command, console: console, application: application, surroundings: surroundings, in: session)
    return Self.perform(context) {
      guard options.fields == nil || command.takesFields else {
        throw CommandError.usage("This command has no fields to choose, so it takes no --fields.")
      }
      guard command.hasData || !options.header && [nil, .json, .ndjson].contains(options.format)
      else {
        throw CommandError.usage(
          "This command prints no rows, so it takes no format.")
      }
      guard options.format != .sql || command.writesSQL else { throw CommandError.noTableForSQL }
      try session?.admit(command)
      return try command.run(context)
    }
  }

  /// Runs `body`, and prints how it failed.
  static func perform(_ context: CommandContext, _ body: () throws -> ExitCode) -> ExitCode {
    let (console, options) = (context.console, context.options)
    do {
      let code = try body()
      try console.finish()
      context.notices.write(besides: nil, to: console, options)
      return Self.named(code)
    } catch OutputError.readerClosed {
      // A person who has left the pager has seen enough.
      if console.endPaging() { return .ok }
      Console.endByBrokenPipe()
    } catch OutputError.stalled {
      return Self.named(.interrupted)
    } catch {
      let error = CommandError(error)
      // The next command opens the file again, with the schema that the shared store has now.
      if error.code == StoreError.Code.memberOutdated.rawValue {
        context.session?.kept.closeOutdated()
      }
      let failure =
        context.session == nil ? error.hinting(database: options.database) : error.inSession
      let code = Self.reporting(failure, to: console, as: options.errorFormat)
      context.notices.write(besides: failure, to: console, options)
      return Self.named(code)
    }
  }

  /// The exit code for the signal that interrupted the command.
  private static func named(_ code: ExitCode) -> ExitCode {
    code == .interrupted && Interruption.isTermination ? .terminated : code
  }

  /// Prints help and version; any other error of the parser is wrong usage.
  private func answer(_ unparsed: UnparsedArguments, _ error: any Error) -> ExitCode {
    if StoreCLI.exitCode(for: error).isSuccess {
      let text = StoreCLI.fullMessage(for: error, columns: surroundings.helpWidth)
      return printing(HelpText.ordered(text))
    }
    return refusing(unparsed.explanation(of: error))
  }

  /// Replaces `storecli`, for which help is written, with the name of this program.
  /// `storecli.toml` stays as it is, since every such program reads it.
  private func inOwnName(_ help: String) -> String { Self.inName(name, help) }

  /// Returns `help`, which is written for `storecli`, for a program called `name`.
  static func inName(_ name: String, _ help: String) -> String {
    guard name != "storecli" else { return help }
    return help.replacing(/(^|[\s\/_])storecli(?=\s|$|\.fish)/) { match in
      match.output.1 + name
    }
  }

  private func printing(_ text: String) -> ExitCode {
    let console = surroundings.console(isPaged: !arguments.contains("--no-pager"))
    defer { console.endPaging() }
    do {
      try console.writeLine(inOwnName(text))
      try console.finish()
      return .ok
    } catch OutputError.readerClosed {
      if console.endPaging() { return .ok }
      Console.endByBrokenPipe()
    } catch {
      return Self.reporting(CommandError(error), to: console, as: .text)
    }
  }

  static func reporting(
    _ failure: CommandError, to console: Console, as format: CommandError.Format
  ) -> ExitCode {
    do {
      try console.report(failure.text(as: format, palette: console.talkTerminal.palette))
    } catch {
      // Standard error is closed, so only the exit status can report the failure.
      return failure.exitCode
    }
    return failure.exitCode
  }
}
