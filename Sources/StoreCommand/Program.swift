import ArgumentParser

#if canImport(Glibc)
  import Glibc
#else
  import Darwin
#endif

/// One run of `storecli`: from the words of the command line to the exit status.
public struct Program: Sendable {
  private let arguments: [String]

  /// - Parameter arguments: The words after the program's name.
  public init(arguments: [String]) {
    self.arguments = arguments
  }

  /// Runs and ends the process.
  public func runToExit() -> Never {
    let code = run()
    // The signal that was held back until the work could stop.
    if code == .terminated { Console.end(by: SIGTERM) }
    exit(code.rawValue)
  }

  private func run() -> ExitCode {
    // A file that may not grow is an error of the write that meets it, not a sudden end.
    signal(SIGXFSZ, SIG_IGN)
    EventCommand.admitWaiting()
    Interruption.admit()
    if arguments.first == "help" {
      if let topic = HelpTopic(words: Array(arguments.dropFirst())) { return printing(topic.text) }
      if let error = UnparsedArguments(arguments).unknownCommand {
        return Self.reporting(error, to: .standard(), as: .text)
      }
    }
    do {
      var command = try StoreCLI.parseAsRoot(arguments)
      if let leaf = command as? any LeafCommand { return Self.perform(leaf) }
      // A noun without its verb, or the parser's own help: running it throws the help.
      try command.run()
      return .ok
    } catch {
      return answerUnparsed(error)
    }
  }

  private static func perform(_ command: any LeafCommand) -> ExitCode {
    let options = command.options
    let console = Console.standard(colour: options.color ?? .auto, loudness: options.loudness)
    do {
      guard options.fields == nil || command.takesFields else {
        throw CommandError.usage("--fields chooses nothing in what this command answers.")
      }
      guard command.hasData || !options.header && [nil, .json, .ndjson].contains(options.format)
      else {
        throw CommandError.usage(
          "This command answers with no rows, so there is no format to write them in.")
      }
      let code = try command.run(CommandContext(command, console: console))
      try console.finish()
      return named(code)
    } catch OutputError.readerClosed {
      Console.endByBrokenPipe()
    } catch OutputError.stalled {
      return named(.interrupted)
    } catch {
      return named(
        reporting(
          CommandError(error).hinting(database: options.database), to: console,
          as: options.errorFormat))
    }
  }

  /// An interruption by the signal that it was.
  private static func named(_ code: ExitCode) -> ExitCode {
    code == .interrupted && Interruption.isTermination ? .terminated : code
  }

  /// Help and version are answers; everything else that stops the parser is wrong usage.
  private func answerUnparsed(_ error: any Error) -> ExitCode {
    if StoreCLI.exitCode(for: error).isSuccess { return printing(StoreCLI.fullMessage(for: error)) }
    let unparsed = UnparsedArguments(arguments)
    return Self.reporting(
      unparsed.explanation(of: error), to: .standard(), as: unparsed.wantsJSON ? .json : .text)
  }

  private func printing(_ text: String) -> ExitCode {
    let console = Console.standard()
    do {
      try console.writeLine(text)
      try console.finish()
      return .ok
    } catch OutputError.readerClosed {
      Console.endByBrokenPipe()
    } catch {
      return Self.reporting(CommandError(error), to: console, as: .text)
    }
  }

  private static func reporting(
    _ failure: CommandError, to console: Console, as format: CommandError.Format
  ) -> ExitCode {
    do {
      try console.report(failure.text(as: format, palette: console.talkTerminal.palette))
    } catch {
      // Standard error is gone: the exit status is all that is left to say it with.
      return failure.exitCode
    }
    return failure.exitCode
  }
}
