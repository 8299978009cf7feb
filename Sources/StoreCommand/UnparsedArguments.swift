import ArgumentParser
import RecordFormats

/// Words of a command line that the parser refused, and the error for them.
struct UnparsedArguments {
  let words: [String]

  init(_ words: [String]) {
    self.words = words
  }

  /// The error, with the nearest command or the help to read.
  func explanation(of error: any Error) -> CommandError {
    if let unknownCommand { return unknownCommand }
    let path = commandPath
    let command = (["storecli"] + path.known).joined(separator: " ")
    let lines = Self.withoutPreamble(StoreCLI.message(for: error))
      .split(separator: "\n").map(String.init)
    if let (option, hint) = CommandGuesses.option(in: words, refusedBy: lines.first ?? "") {
      return .usage("There is no option \(option).", hint: hint)
    }
    // Other mistakes may follow from it.
    if !path.known.isEmpty, lines.first?.hasPrefix("Unknown option") != true,
      let option = unknownOption(of: path.known)
    {
      return .usage("Unknown option '\(option)'", hint: "\(command) --help")
    }
    return CommandError(
      .usage, code: "usage", lines.first ?? "The command line is wrong.",
      details: lines.dropFirst().map { "  \($0)" },
      hint: negativeNumber.map { "a key that begins with - follows --, as in -- \($0)" }
        ?? "\(command) --help")
  }

  /// The error for a first word that is no command, but a model, a file, or another program's name
  /// for a command; nil for any other word.
  ///
  /// - Parameter models: Returns the names of the database's models.
  func guess(at models: () -> [String]) -> CommandError? {
    let path = commandPath
    guard let unknown = path.unknown, words.first == unknown else { return nil }
    if let hint = CommandGuesses.command(for: unknown, before: words.dropFirst().first) {
      return .usage("There is no command \(unknown).", hint: hint)
    }
    if FileIdentity.isRegularFile(at: unknown) {
      let line = words.dropFirst().filter { !$0.hasPrefix("-") }
      let command = UnparsedArguments(Array(line)).nameCount > 0 ? line : ["models"]
      return .usage(
        "\(unknown) is a file, not a command.",
        hint: (["storecli"] + command.map(Shell.quoted) + ["-d", Shell.quoted(unknown)])
          .joined(separator: " "))
    }
    guard let model = models().first(where: { $0.lowercased() == unknown.lowercased() }) else {
      return nil
    }
    return .usage("\(model) is a model.", hint: "storecli query \(Shell.quoted(model))")
  }

  /// The first word that looks like a long option and is not in the help of the command that
  /// `names` lead to.
  private func unknownOption(of names: [String]) -> String? {
    var command: any ParsableCommand.Type = StoreCLI.self
    for name in names {
      let child = command.configuration.subcommands.first { $0.configuration.commandName == name }
      guard let child else { return nil }
      command = child
    }
    guard command.configuration.subcommands.isEmpty else { return nil }
    let help = StoreCLI.helpMessage(for: command, includeHidden: true, columns: 200)
    let known = Set(help.matches(of: /--[a-z][a-z-]*/).map { String($0.output) })
    let options = words.prefix { $0 != "--" }
      .filter { $0.hasPrefix("--") }.map { String($0.prefix { $0 != "=" }) }
    return options.first { !known.contains($0) }
  }

  /// What `-d` names, before or after the command.
  var database: String? {
    for (word, next) in zip(words, words.dropFirst().map(Optional.some) + [nil]) {
      if ["-d", "--db"].contains(word) { return next }
      for prefix in ["-d=", "--db="] where word.hasPrefix(prefix) {
        return String(word.dropFirst(prefix.count))
      }
    }
    return nil
  }

  /// The error for words that begin with an option: the command is missing, or the option is not a
  /// common one.
  var unplaced: CommandError {
    guard let stray = LeadingOptions(in: words).rest.first else {
      let line = ["storecli"] + words.map(Shell.quoted) + ["models"]
      return .usage("A command is missing after the options.", hint: line.joined(separator: " "))
    }
    if LeadingOptions.takingValue.contains(stray) {
      return .usage(
        "\(stray) needs a value, and a command after it.", hint: "storecli models -d PATH")
    }
    return .usage(
      "\(stray) is not a common option. Write it after the command.", hint: "storecli help options")
  }

  /// The command that the first words name in full and that has no commands of its own, and the
  /// words behind its name; nil if they name none.
  var leaf: (command: any LeafCommand.Type, rest: [String])? {
    var command: any ParsableCommand.Type = StoreCLI.self
    for (place, word) in words.enumerated() {
      let children = command.configuration.subcommands
      guard let child = children.first(where: { $0.configuration.commandName == word }) else {
        return nil
      }
      if let leaf = child as? any LeafCommand.Type {
        return (leaf, Array(words.dropFirst(place + 1)))
      }
      command = child
    }
    return nil
  }

  /// The first words that name a command or a group of commands.
  var commandNames: [String] { commandPath.known }

  /// How many of the first words name a command that can run; 0 if they name none. Any word may
  /// follow a group with a default subcommand.
  var nameCount: Int { commandPath.canRun ? commandPath.known.count : 0 }

  /// A message of this program about a value, without the parser's own words before it: "The value
  /// 'abc' is invalid for '<shell>': The shells are bash, zsh and fish; got abc."
  private static func withoutPreamble(_ message: String) -> String {
    guard message.hasPrefix("The value '"), let end = message.firstRange(of: "': "),
      message[..<end.lowerBound].contains("' is invalid for '")
    else { return message }
    return String(message[end.upperBound...])
  }

  /// The first word that is a negative number where a key may stand: the parser takes it for an
  /// option.
  private var negativeNumber: String? {
    guard !words.contains("--"), ["get", "update", "delete", "reorder"].contains(words.first) else {
      return nil
    }
    return zip(words, [""] + words).first { word, previous in
      word.hasPrefix("-") && word.dropFirst().first.map { "0123456789".contains($0) } == true
        && !Self.valueTakers.contains(previous)
    }?.0
  }

  /// The options of those commands whose value is the next word.
  private static let valueTakers: Set = [
    "-d", "--db", "-o", "--output", "--fields", "--color", "--busy-timeout", "--where", "--at",
    "--to", "--before", "--after", "--in", "--list", "--from",
  ]

  /// Whether the words ask for JSON, in any spelling that the parser takes.
  var wantsJSON: Bool {
    let formats: [OutputFormat] = [.json, .ndjson]
    let names = formats.map(\.rawValue)
    return zip(words, words.dropFirst() + [""]).contains { word, next in
      names.contains { name in
        word == "--\(name)" || word == "--output=\(name)" || word == "-o\(name)"
          || word == "-o=\(name)" || ["-o", "--output"].contains(word) && next == name
      }
    }
  }

  /// The error for a word where a command should stand; nil when there is none.
  var unknownCommand: CommandError? {
    let path = commandPath
    guard let unknown = path.unknown else { return nil }
    let topics =
      words.first == "help" && path.known.isEmpty ? HelpTopic.allCases.map(\.rawValue) : []
    let near = NearMiss.suggestions(for: unknown, among: path.names + topics)
    let prefix = (["storecli"] + (words.first == "help" ? ["help"] : []) + path.known)
      .joined(separator: " ")
    return CommandError(
      .usage, code: "usage", "There is no command \(unknown)" + CommandError.meant(near),
      hint: near.first.map { "\(prefix) \($0)" } ?? "storecli --help")
  }

  /// The commands that the words name, and the first word that should have named one.
  private var commandPath: (known: [String], unknown: String?, names: [String], canRun: Bool) {
    var command: any ParsableCommand.Type = StoreCLI.self
    var known: [String] = []
    let verbs = words.first == "help" ? Array(words.dropFirst()) : words
    for word in verbs {
      let children = command.configuration.subcommands
      guard !children.isEmpty, !word.hasPrefix("-") else { break }
      guard let child = children.first(where: { $0.configuration.commandName == word }) else {
        return (
          known, word, children.compactMap { $0.configuration.commandName },
          command.configuration.defaultSubcommand != nil
        )
      }
      known.append(word)
      command = child
    }
    let usual = command.configuration.defaultSubcommand
    return (known, nil, [], usual != nil || command.configuration.subcommands.isEmpty)
  }
}
