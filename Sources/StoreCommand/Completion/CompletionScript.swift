import ArgumentParser

/// The script with which a shell completes the words of the command line: the parser's own, with
/// what it lacks.
///
/// - A field to assign ends with `=`, and its value follows without a blank.
/// - `help` takes a command or a topic.
enum CompletionScript {
  static func text(for shell: CompletionShell) -> String {
    var script = CompletedCLI.completionScript(for: shell)
    for change in changes(for: shell) {
      guard let place = script.firstRange(of: change.old) else { continue }
      script.replaceSubrange(place, with: change.new)
    }
    guard shell == .fish else { return script }
    // fish itself writes no blank after a `=`.
    return script
      + "\ncomplete -c 'storecli' -n '__storecli_should_offer_completions_for_positional "
      + "\"storecli help\" -eq 1' -fka '\(subjects.joined(separator: " "))'"
  }

  /// What `help` takes.
  static let subjects =
    StoreCLI.configuration.subcommands.compactMap { $0.configuration.commandName }
    + HelpTopic.allCases.map(\.rawValue)

  /// The places of the parser's script that are changed.
  static func changes(for shell: CompletionShell) -> [(old: String, new: String)] {
    switch shell {
    case .bash:
      let end = "    done < <(IFS=$'\\n' compgen \"${@}\" -- \"${cur}\")\n"
      let help = """
        _storecli_help() {
            repeating_flags=()
            non_repeating_flags=(--version)
            repeating_options=()
            non_repeating_options=()
            __storecli_offer_flags_options -1

        """
      return [
        (
          end,
          end + """
                if [[ "${#COMPREPLY[@]}" -eq 1 && "${COMPREPLY[0]}" = *= ]]; then
                    compopt -o nospace
                fi

            """
        ),
        (
          help,
          help + "    __storecli_add_completions -W '\(subjects.joined(separator: "'$'\\n''"))'\n"
        ),
      ]
    case .zsh:
      return [
        (
          """
              local -ar non_empty_completions=("${@:#(|:*)}")

          """,
          """
              local -ar non_empty_completions=("${@:#(|:*|*=)}")
              local -ar open_completions=("${(M)@:#*=}")

          """
        ),
        (
          "_describe -V '' non_empty_completions --",
          "_describe -V '' non_empty_completions -- open_completions -S '' --"
        ),
        ("'*:subcommands:'", "'*:subcommands:(\(subjects.joined(separator: " ")))'"),
      ]
    default: return []
    }
  }
}
