import ArgumentParser
import RecordFormats

/// `spec`: the command tree as JSON, for tools.
struct SpecCommand: LeafCommand {
  static let configuration = CommandConfiguration(
    commandName: "spec", abstract: "Print all commands, options and exit codes as JSON.",
    discussion: """
      Example: storecli spec | jq '.commands[].name'
      The member spec is the version of this form, now \(Self.formVersion). It rises only if a \
      member changes its meaning or is removed; new members may come at any time. type is boolean, \
      integer, number, choice, file or text.
      """)

  /// The version of the JSON's form.
  static let formVersion = 1

  @OptionGroup(title: "Common options") var options: GlobalOptions

  var takesFields: Bool { false }
  var isPaged: Bool { true }

  func validate() throws {
    guard [nil, .json].contains(options.format) else {
      throw ValidationError("spec prints JSON; leave out the format.")
    }
  }

  func run(_ context: CommandContext) throws -> ExitCode {
    let program = try CommandSpecification.program()
    try context.console.writeLine(
      JSONValue.object([
        .init("spec", .integer(Int64(Self.formVersion))), .init("program", .string(Program.name)),
        .init("version", .string(VersionCommand.number)),
        .init("abstract", .string(program.abstract)),
        .init("commonOptions", .array(Self.common(of: program).map(Self.json))),
        .init("commands", .array(program.commands.map(Self.json))),
        .init(
          "exitCodes",
          .array(
            ExitCode.allCases.map { code in
              .object([
                .init("code", .integer(Int64(code.rawValue))),
                .init("meaning", .string(code.summary)),
              ])
            })),
        .init("topics", .array(HelpTopic.allCases.map { .string($0.rawValue) })),
      ]))
    return .ok
  }

  /// The options that every command has: those of the first that runs.
  private static func common(
    of program: CommandSpecification
  ) -> [CommandSpecification.Parameter] {
    program.all.first { $0.commands.isEmpty }?.parameters.filter(\.isCommon) ?? []
  }

  private static func json(_ command: CommandSpecification) -> JSONValue {
    var members: [JSONValue.Member] = [
      .init("name", .string(command.path.last ?? "")),
      .init("path", .array(command.path.map { .string($0) })),
      .init("abstract", .string(command.abstract)),
      .init("discussion", .string(command.discussion)),
    ]
    if let group = command.group { members.append(.init("group", .string(group))) }
    if let name = command.defaultCommand { members.append(.init("defaultCommand", .string(name))) }
    guard command.commands.isEmpty else {
      members.append(.init("commands", .array(command.commands.map(json))))
      return .object(members)
    }
    let own = command.parameters.filter { !$0.isCommon }
    members.append(
      .init("arguments", .array(own.filter { $0.kind == .argument }.map(json))))
    members.append(.init("options", .array(own.filter { $0.kind != .argument }.map(json))))
    return .object(members)
  }

  private static func json(_ parameter: CommandSpecification.Parameter) -> JSONValue {
    var members: [JSONValue.Member] = []
    if parameter.kind != .argument {
      members.append(.init("names", .array(parameter.names.map { .string($0) })))
    }
    if let name = parameter.valueName { members.append(.init("value", .string(name))) }
    members.append(.init("type", .string(parameter.type.rawValue)))
    if !parameter.choices.isEmpty {
      members.append(.init("choices", .array(parameter.choices.map { .string($0) })))
    }
    members.append(.init("optional", .boolean(parameter.isOptional)))
    members.append(.init("repeating", .boolean(parameter.isRepeating)))
    members.append(.init("default", parameter.defaultValue.map { .string($0) } ?? .null))
    members.append(.init("help", .string(parameter.help)))
    return .object(members)
  }
}
