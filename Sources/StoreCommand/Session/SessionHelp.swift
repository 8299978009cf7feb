import ArgumentParser

/// The help of a session.
enum SessionHelp {
  static let text = """
    Type a command without the program's name, or an SQL statement with ; at its end.

    \(commands)

    In a session:
      SELECT, WITH, EXPLAIN, VALUES, PRAGMA   read with SQL
      INSERT, UPDATE, DELETE, REPLACE         write with SQL; rules and bindings hold
      begin, commit, rollback                 several statements in one transaction
      $_                                      the keys of the last result, as words, or as a list
                                              in a condition: get Track $_, 'id in $_'
      watch on, watch off                     show what other programs commit, above the prompt
      help COMMAND                            the help of a command, or of help shell
      exit                                    leave; Ctrl-D does the same

    In a transaction the prompt shows * and its age. No other program can write until it ends. A
    refused statement is undone alone. What commit refuses stays open, so that you can correct it.

    Tab completes. Up and Ctrl-R find earlier inputs. Ctrl-C discards the input.
    """

  private static var commands: String {
    StoreCLI.configuration.groupedSubcommands.map { group in
      let names = group.subcommands.compactMap { $0.configuration.commandName }
      return pad(group.name) + names.filter { $0 != "shell" }.joined(separator: " ")
    }
    .joined(separator: "\n")
  }

  private static func pad(_ title: String) -> String {
    title + String(repeating: " ", count: max(1, 13 - title.count))
  }
}
