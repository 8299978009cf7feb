/// The manual page of one command, for `man`: <https://man7.org/linux/man-pages/man7/man.7.html>.
struct ManualPage {
  private let command: CommandSpecification
  private let program: String
  private let version: String

  init(of command: CommandSpecification, program: String, version: String) {
    self.command = command
    self.program = program
    self.version = version
  }

  /// `storecli-rules-add`.
  var name: String { ([program] + command.path).joined(separator: "-") }

  var fileName: String { name + ".1" }

  var text: String {
    let words = ([program] + command.path).joined(separator: " ")
    var page = [
      ".TH "
        + [name.uppercased(), "1", "", "\(program) \(version)", "User Commands"]
        .map(Self.quoted).joined(separator: " "),
      // Examples stay as they are typed: no blanks are added, and no word is divided.
      ".ad l", ".nh", ".SH NAME", "\(Self.text(name)) \\- \(Self.text(command.abstract))",
      ".SH SYNOPSIS",
      ".B \(Self.text(words))", Self.text(synopsis),
    ]
    page += section("DESCRIPTION", Self.paragraphs(command.discussion))
    page += section("COMMANDS", command.commands.flatMap(entry))
    let own = command.parameters.filter { !$0.isCommon }
    page += section("ARGUMENTS", own.filter { $0.kind == .argument }.flatMap(entry))
    page += section("OPTIONS", own.filter { $0.kind != .argument }.flatMap(entry))
    page += section("COMMON OPTIONS", command.parameters.filter(\.isCommon).flatMap(entry))
    page += section("EXIT STATUS", ExitCode.allCases.flatMap(entry))
    if command.path.isEmpty {
      page += section("ENVIRONMENT", Self.literal(HelpTopic.environment.text))
    }
    page += section(
      "SEE ALSO", [related.map { ".BR \(Self.text($0)) (1)" }.joined(separator: ",\n")])
    return page.filter { !$0.isEmpty }.joined(separator: "\n") + "\n"
  }

  private var synopsis: String {
    let arguments = command.parameters.filter { $0.kind == .argument }.map { argument in
      let name = "<\(argument.valueName ?? "")>" + (argument.isRepeating ? " ..." : "")
      return argument.isOptional ? "[\(name)]" : name
    }
    let end = command.commands.isEmpty ? "[<options>]" : "<command>"
    return (arguments + [end]).joined(separator: " ")
  }

  /// The pages above and below this one.
  private var related: [String] {
    let parent =
      command.path.isEmpty ? [] : [([program] + command.path.dropLast()).joined(separator: "-")]
    return parent + command.commands.map { ([program] + $0.path).joined(separator: "-") }
  }

  private func section(_ title: String, _ lines: [String]) -> [String] {
    lines.allSatisfy(\.isEmpty) ? [] : [".SH \(title)"] + lines
  }

  private func entry(_ child: CommandSpecification) -> [String] {
    [".TP", ".B \(Self.text(child.path.last ?? ""))", Self.text(child.abstract)]
  }

  private func entry(_ code: ExitCode) -> [String] {
    [".TP", ".B \(code.rawValue)", Self.text(code.summary)]
  }

  private func entry(_ parameter: CommandSpecification.Parameter) -> [String] {
    let value = parameter.valueName.map { "<\($0)>" }
    var heading = parameter.names.joined(separator: ", ")
    if let value { heading += heading.isEmpty ? value : " " + value }
    var help = parameter.help
    if !parameter.choices.isEmpty {
      help += " Values: \(parameter.choices.joined(separator: ", "))."
    }
    if let usual = parameter.defaultValue { help += " Without it: \(usual)." }
    return [".TP", ".B \(Self.text(heading))", Self.text(help)]
  }

  /// The paragraphs of a help text. The lines of examples stay as they are.
  private static func paragraphs(_ text: String) -> [String] {
    var lines: [String] = []
    for line in text.split(separator: "\n") {
      let isCommand = line.hasPrefix("storecli ") || line.hasPrefix("Example")
      lines.append(isCommand ? ".br" : ".PP")
      lines.append(Self.text(String(line)))
    }
    return lines
  }

  private static func literal(_ text: String) -> [String] {
    [".nf"]
      + text.split(separator: "\n", omittingEmptySubsequences: false)
      .map { $0.isEmpty ? ".sp" : Self.text(String($0)) } + [".fi"]
  }

  /// Text in which no character is an instruction of the formatter.
  private static func text(_ text: String) -> String {
    var shown = ""
    for character in text {
      switch character {
      case "\\": shown += "\\e"
      case "-": shown += "\\-"
      default: shown.append(character)
      }
    }
    return shown.hasPrefix(".") || shown.hasPrefix("'") ? "\\&" + shown : shown
  }

  /// An argument in double quotes.
  private static func quoted(_ text: String) -> String {
    "\"" + Self.text(text).replacing("\"", with: "\\(dq") + "\""
  }
}
