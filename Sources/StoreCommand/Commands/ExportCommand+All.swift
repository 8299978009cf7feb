import ModelStore
import RecordFormats

#if canImport(Glibc)
  import Glibc
#elseif canImport(Musl)
  import Musl
#else
  import Darwin
#endif

// The records of all models as a directory.
extension ExportCommand {
  /// Writes one NDJSON file for each model, from one state of the store, then the catalog. An
  /// interrupted export leaves a directory whose catalog does not fit its files, or has none.
  func exportAll(to directory: String, _ context: CommandContext) throws -> ExitCode {
    let opened = try context.openForReading()
    Interruption.await()
    let earlier = try Self.prepare(directory, context)
    let models = ExportCatalog.ordered(opened.store.schema.models.filter { !$0.isView })
    guard !models.isEmpty else {
      throw CommandError(
        .notFound, code: "unknownModel",
        "The database has no models, so there is nothing to export.",
        hint: "storecli adopt -d \(Shell.quoted(opened.location.path))")
    }
    var count = 0
    var written: Set<String> = []
    do {
      try opened.read { reads in
        var entries: [(entry: ExportCatalog.Entry, schema: ModelSchema)] = []
        for model in models {
          let name = ExportCatalog.fileName(for: model.name, besides: written)
          written.insert(String(name.dropLast(".ndjson".count)).lowercased())
          let recordCount = try write(model, to: "\(directory)/\(name)", reads, opened)
          let hash = try reads.contentHash(of: StoreQuery<DynamicRecord>(model))
          entries.append(
            (.init(name: model.name, file: name, recordCount: recordCount, hash: hash), model))
          count += recordCount
        }
        let catalog = try OutputFile(
          path: "\(directory)/\(ExportCatalog.fileName)", refusing: opened.location.storePaths)
        try catalog.sink.append(
          try ExportCatalog.text(of: entries, hash: try reads.contentHash()))
        try catalog.close()
        let files = Set(entries.map(\.entry.file))
        for file in earlier where !files.contains(file) { unlink("\(directory)/\(file)") }
      }
    } catch  where Interruption.explains(error) {
      throw Self.interruption(of: directory)
    }
    try context.console.say(
      "\(Grouped.text(count, "record")) of \(Grouped.text(models.count, "model")) to \(directory)")
    return .ok
  }

  private static func interruption(of directory: String) -> CommandError {
    CommandError(
      .interrupted, code: "interrupted", "Interrupted; \(directory) is not a complete export.")
  }

  /// - Returns: The number of records.
  private func write(
    _ model: ModelSchema, to path: String, _ reads: borrowing ReadTransaction,
    _ opened: OpenedStore
  ) throws -> Int {
    let columns = try FieldColumns(of: model, names: nil)
    let file = try OutputFile(path: path, refusing: opened.location.storePaths)
    var writer = try OutputFormat.ndjson.writer(
      columns: columns.exportColumns(as: .ndjson), to: file.sink, terminal: .pipe)
    var count = 0
    try reads.forEach(StoreQuery<DynamicRecord>(model)) { (record: DynamicRecord) in
      if Interruption.isRequested { throw Self.interruption(of: path) }
      try writer.write(try columns.exportRow(of: record.values, as: .ndjson))
      count += 1
    }
    try writer.finish()
    try file.close()
    return count
  }

  /// Creates the directory, unless it is there.
  ///
  /// - Returns: The files of an earlier export to it.
  /// - Throws: ``CommandError`` for a directory with other files.
  private static func prepare(_ directory: String, _ context: CommandContext) throws -> [String] {
    guard !FileIdentity.isDirectory(directory) else {
      if FileIdentity(of: "\(directory)/\(ExportCatalog.fileName)") != nil {
        let catalog = try ExportCatalog(
          of: directory, from: InputFiles(surroundings: context.surroundings))
        return catalog.entries.map(\.file)
      }
      guard try names(in: directory).isEmpty else {
        throw CommandError.usage(
          "\(directory) has files that are not of an export; name a new or empty directory.")
      }
      return []
    }
    try Directory(path: directory).create()
    return []
  }

  private static func names(in directory: String) throws -> [String] {
    do {
      return try Directory(path: directory).names()
    } catch {
      throw CommandError(
        .failed, code: "output", "cannot read the directory \(directory): \(error)")
    }
  }
}
