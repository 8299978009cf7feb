import ArgumentParser

/// `bindings add`: one subcommand for each kind of binding.
struct BindingsAddCommand: ParsableCommand {
  static let configuration = CommandConfiguration(
    commandName: "add", abstract: "Add a binding: keep a field in sync, for every program.",
    discussion: """
      Examples: storecli bindings add copy Album.artistName --from Artist.name --through artistID
      storecli bindings add derive Track.slug --as 'lower(title)'
      storecli bindings add aggregate Album.length --function sum --from Track.milliseconds \
      --through albumID
      storecli bindings add two-way Item.price --with Item.cents --as 'cents / 100.0' \
      --back 'CAST(round(price * 100) AS INTEGER)'
      The file itself keeps the field in sync, with triggers, for writes of every program.
      """,
    subcommands: [
      BindingsAddCopyCommand.self, BindingsAddDeriveCommand.self, BindingsAddAggregateCommand.self,
      BindingsAddTwoWayCommand.self,
    ])

  /// What happens to existing records, in the help of each kind.
  static let consequences = """
    storecli updates existing records at once and asks first if that replaces values. With the \
    change journal on, bindings drop and then undo bring the old values back. Ctrl-C and SIGTERM \
    stop the running statement, and nothing is added.
    """
}
