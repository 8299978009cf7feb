import ArgumentParser
import RecordFormats

/// `man`: the manual pages of the commands.
struct ManCommand: LeafCommand {
  static let configuration = CommandConfiguration(
    commandName: "man", abstract: "Print or install manual pages.",
    discussion: """
      Examples: storecli man query | man -l -
      storecli man --install ~/.local/share/man
      Without a command, prints the page of the program. --install writes the pages of all commands \
      to the directory man1 below the one that you name; man finds them if that is in MANPATH.
      """)

  @Argument(
    help: ArgumentHelp("The command, such as rules add.", valueName: "command"),
    completion: Completion.command)
  var command: [String] = []

  @Option(
    help: ArgumentHelp("Write all pages below this directory.", valueName: "directory"),
    completion: .directory)
  var install: String?

  @OptionGroup(title: "Common options") var options: GlobalOptions

  var hasData: Bool { false }
  var isPaged: Bool { install == nil }

  func validate() throws {
    guard command.isEmpty || install == nil else {
      throw ValidationError("--install writes the pages of all commands; leave out the command.")
    }
  }

  func run(_ context: CommandContext) throws -> ExitCode {
    let program = try CommandSpecification.program()
    if let install { return try write(program, below: install, context) }
    guard let found = program.command(at: command[...]) else {
      let names = program.all.dropFirst().map { $0.path.joined(separator: " ") }
      let name = command.joined(separator: " ")
      throw CommandError.usage(
        "There is no command \(name)"
          + CommandError.meant(NearMiss.suggestions(for: name, among: names)),
        hint: "storecli --help")
    }
    try context.console.data.append(page(of: found).text)
    return .ok
  }

  private func page(of command: CommandSpecification) -> ManualPage {
    ManualPage(of: command, program: Program.name, version: VersionCommand.number)
  }

  private func write(
    _ program: CommandSpecification, below directory: String, _ context: CommandContext
  ) throws -> ExitCode {
    let place = directory + "/man1"
    for path in [directory, place] { try Directory(path: path).create() }
    for command in program.all {
      let page = page(of: command)
      let file = try OutputFile(path: "\(place)/\(page.fileName)", refusing: [])
      try file.sink.append(page.text)
      try file.close()
    }
    try context.console.say("\(Grouped.text(program.all.count, "page")) to \(place)")
    return .ok
  }
}
