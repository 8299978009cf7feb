import ArgumentParser
import RecordFormats

/// What a command takes and does, as data: for `spec`, for manual pages and for tools.
struct CommandSpecification: Hashable, Sendable {
  /// One option, flag or argument.
  struct Parameter: Hashable, Sendable {
    enum Kind: String, Hashable, Sendable {
      case argument, option, flag
    }

    var kind: Kind
    /// `-d` and `--db`; empty for an argument.
    var names: [String]
    /// What stands for the value; nil for a flag.
    var valueName: String?
    /// What the value is.
    var type: ValueType
    /// The accepted words, where the type is a choice.
    var choices: [String] = []
    var defaultValue: String?
    var isOptional: Bool
    var isRepeating: Bool
    /// Whether every command has it.
    var isCommon: Bool
    var help: String
  }

  /// What a value is, so that a tool can ask for it.
  enum ValueType: String, CaseIterable, Hashable, Sendable {
    case boolean, integer, number, choice, file, text
  }

  /// The words after the program's name, such as `rules add`; empty for the program.
  var path: [String]
  var abstract: String
  var discussion: String
  /// The group in the help of the program; nil for a command of a command.
  var group: String?
  /// The command that runs without a further word.
  var defaultCommand: String?
  var parameters: [Parameter]
  var commands: [CommandSpecification]

  /// The program and all its commands.
  static func program() throws -> CommandSpecification {
    let dumped = try JSONParser.value(of: StoreCLI._dumpHelp().utf8)
    let groups = StoreCLI.configuration.groupedSubcommands.reduce(into: [String: String]()) {
      groups, group in
      for command in group.subcommands {
        groups[command.configuration.commandName ?? ""] = group.name
      }
    }
    return CommandSpecification(
      dumped["command"] ?? .null, of: StoreCLI.self, path: [], groups: groups)
  }

  private init(
    _ dumped: JSONValue, of type: any ParsableCommand.Type, path: [String],
    groups: [String: String]
  ) {
    self.path = path
    abstract = Self.inOwnName(dumped["abstract"])
    discussion = Self.inOwnName(dumped["discussion"])
    group = path.count == 1 ? groups[path[0]] : nil
    defaultCommand = dumped["defaultSubcommand"]?.text
    let types = DeclaredTypes(of: type)
    parameters = (dumped["arguments"]?.elements ?? []).map { Parameter($0, types) }
    let children = dumped["subcommands"]?.elements ?? []
    commands = type.configuration.subcommands.compactMap { child in
      let name = child.configuration.commandName ?? ""
      return children.first { $0["commandName"]?.text == name }
        .map { CommandSpecification($0, of: child, path: path + [name], groups: groups) }
    }
  }

  /// The text of help for this program, which may be an application's own.
  fileprivate static func inOwnName(_ help: JSONValue?) -> String {
    Program.inName(Program.name, help?.text ?? "")
  }

  /// The command that `path` names, or nil.
  func command(at path: ArraySlice<String>) -> CommandSpecification? {
    guard let name = path.first else { return self }
    return commands.first { $0.path.last == name }?.command(at: path.dropFirst())
  }

  /// This command and all below it.
  var all: [CommandSpecification] { [self] + commands.flatMap(\.all) }
}

extension CommandSpecification.Parameter {
  fileprivate init(_ dumped: JSONValue, _ types: DeclaredTypes) {
    let kind: Kind =
      switch dumped["kind"]?.text {
      case "positional": .argument
      case "flag": .flag
      default: .option
      }
    self.kind = kind
    names = (dumped["names"]?.elements ?? []).map { name in
      (name["kind"]?.text == "long" ? "--" : "-") + (name["name"]?.text ?? "")
    }
    .sorted { $0.count < $1.count }
    valueName = kind == .flag ? nil : dumped["valueName"]?.text
    choices = (dumped["allValues"]?.elements ?? []).compactMap(\.text)
    defaultValue = dumped["defaultValue"]?.text
    isOptional = dumped["isOptional"] == .boolean(true)
    isRepeating = dumped["isRepeating"] == .boolean(true)
    isCommon = dumped["sectionTitle"]?.text == "Common options" || names.contains("--help")
    help = CommandSpecification.inOwnName(dumped["abstract"])
    if kind == .flag {
      type = .boolean
    } else if !choices.isEmpty {
      type = .choice
    } else if dumped["completionKind"]?["file"] != nil {
      type = .file
    } else {
      type = types[names.last ?? valueName ?? ""] ?? .text
    }
  }
}

extension JSONValue {
  /// The member of an object.
  fileprivate subscript(name: String) -> JSONValue? {
    guard case .object(let members) = self else { return nil }
    return members.first { $0.name == name }?.value
  }

  fileprivate var text: String? {
    if case .string(let text) = self { text } else { nil }
  }

  fileprivate var elements: [JSONValue]? {
    if case .array(let elements) = self { elements } else { nil }
  }
}
