import ArgumentParser
import RecordFormats

/// `completions`: the script with which a shell completes commands and options.
struct CompletionsCommand: LeafCommand {
  static let configuration = CommandConfiguration(
    commandName: "completions", abstract: "Print a shell's completion script.",
    discussion: """
      Examples: storecli completions bash > ~/.local/share/bash-completion/completions/storecli
      storecli completions zsh > ~/.zfunc/_storecli
      storecli completions fish > ~/.config/fish/completions/storecli.fish
      Completes commands, options, models, fields, keys, bindings, rules, consumers and topics of \
      help. Of keys, it offers the first \(KeyCandidates.countMax) that begin with the word.
      """)

  @Argument(
    help: ArgumentHelp("The shell, bash, zsh or fish.", valueName: "shell"),
    completion: .list(["bash", "zsh", "fish"]),
    transform: { name in
      guard let shell = CompletionShell(rawValue: name) else {
        throw ValidationError("The shells are bash, zsh and fish; got \(name).")
      }
      return shell
    })
  var shell: CompletionShell

  @OptionGroup(title: "Common options") var options: GlobalOptions

  var hasData: Bool { false }

  func run(_ context: CommandContext) throws -> ExitCode {
    try context.console.writeLine(CompletionScript.text(for: shell))
    return .ok
  }
}
