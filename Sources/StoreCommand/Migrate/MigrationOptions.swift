import ArgumentParser

/// The option of every command of `migrate` that reads or writes files of migrations.
struct MigrationOptions: ParsableArguments {
  @Option(
    help: ArgumentHelp(
      "The directory of the migrations; else migrations in storecli.toml, else Migrations.",
      valueName: "directory"), completion: .directory)
  var migrations: String?
}

/// The options of commands that run migrations.
struct MigrationRunOptions: ParsableArguments {
  @OptionGroup var source: MigrationOptions

  @Flag(name: .shortAndLong, help: "Do not ask before values are deleted.")
  var yes = false

  @Flag(help: "Make no backup before values are deleted.")
  var noBackup = false

  @OptionGroup var change: ChangeOptions
}
