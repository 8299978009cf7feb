import ArgumentParser
import ModelStore

/// `adopt`: makes tables of an existing database models of the store.
struct AdoptCommand: ChangingCommand {
  static let configuration = CommandConfiguration(
    commandName: "adopt", abstract: "Make tables of an existing database models.",
    discussion: """
      Example: storecli adopt -d chinook.sqlite
      The tables stay as they are; the file gets the store's catalog beside them. Without names, \
      every table and view that can be a model becomes one, and the others are listed with the reason.
      """)

  @Argument(
    help: ArgumentHelp("The tables; all that can be models when none is named.", valueName: "table")
  )
  var names: [String] = []

  @OptionGroup var change: ChangeOptions
  @OptionGroup var options: GlobalOptions

  func run(_ context: CommandContext) throws -> ExitCode {
    // Before anything is written: it refuses fields that the report does not have.
    let writer = try context.reportWriter(
      columns: [
        OutputColumn("model", role: .key), OutputColumn("fields"), OutputColumn("key"),
        OutputColumn("notes"),
      ])
    let opened = try context.openToLook()
    let found = try opened.store.adoptableTables()
    let chosen = try chosen(from: found, opened)
    if change.dryRun || chosen.isEmpty {
      try report(chosen, of: found, to: writer, context)
    } else {
      opened.store.close()
      try context.openForWriting().store.adopt(chosen.map(\.name))
      try context.telling { try report(chosen, of: found, to: writer, context) }
    }
    return .ok
  }

  private func report(
    _ chosen: [AdoptableTable], of found: [AdoptableTable], to writer: any RowWriter,
    _ context: CommandContext
  ) throws {
    var writer = writer
    for table in chosen {
      guard let schema = table.schema else { continue }
      try writer.write([
        .text(schema.name), .integer(Int64(schema.fields.count)),
        .text(schema.key.joined(separator: ",")), .text(table.notes.joined(separator: " ")),
      ])
    }
    try context.finish(writer)
    if names.isEmpty {
      for table in found {
        if let reason = table.reason { try context.console.say("not \(table.name): \(reason)") }
      }
    }
    let verb = change.dryRun ? "would be adopted; dry run: nothing was written" : "adopted"
    try context.console.say(
      chosen.isEmpty
        ? "no table is left to adopt" : "\(Grouped.text(chosen.count, "table")) \(verb)")
  }

  private func chosen(
    from found: [AdoptableTable], _ opened: OpenedStore
  ) throws -> [AdoptableTable] {
    guard !names.isEmpty else { return found.filter { $0.schema != nil } }
    var seen: Set<String> = []
    return try names.filter { seen.insert($0).inserted }.compactMap { name in
      if let table = found.first(where: { $0.name == name }) {
        if let reason = table.reason {
          throw CommandError(.failed, code: "unsupportedSchema", reason, model: name)
        }
        return table
      }
      if opened.store.schema.contains(name) { return nil }
      let near = NearMiss.suggestions(for: name, among: found.map(\.name))
      throw CommandError(
        .notFound, code: "unknownModel", "There is no table \(name)" + CommandError.meant(near),
        hint: near.first.map { "storecli adopt \(Shell.quoted($0))" }, model: name)
    }
  }
}
