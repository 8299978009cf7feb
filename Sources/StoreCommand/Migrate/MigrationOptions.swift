import ArgumentParser
import ModelStore

/// The option of every command of `migrate` that reads or writes files of migrations.
struct MigrationOptions: ParsableArguments {
  @Option(
    help: ArgumentHelp(
      "The directory of the migrations; else migrations in storecli.toml, else Migrations.",
      valueName: "directory"), completion: .directory)
  var migrations: String?
}

/// The options that say what became of names, for commands that compare two schemas.
struct RenamingOptions: ParsableArguments {
  @Option(
    help: ArgumentHelp(
      "Todo.title=name or Todo=Task: the column or table has a new name.", valueName: "old=new"))
  var rename: [String] = []

  @Option(
    help: ArgumentHelp(
      "Todo.title or Todo: the column or table goes, although one of its form comes.",
      valueName: "name"))
  var drop: [String] = []

  var isEmpty: Bool { rename.isEmpty && drop.isEmpty }

  var answers: Answers {
    Answers(renames: rename.compactMap(SchemaRename.init), drops: Set(drop))
  }

  func validate() throws {
    for text in rename where SchemaRename(text) == nil {
      throw ValidationError("--rename takes Table.column=new or Table=new; got \(text).")
    }
  }
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
