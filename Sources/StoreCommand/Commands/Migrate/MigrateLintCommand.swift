import ArgumentParser
import ModelStore
import RecordFormats

/// `migrate lint`: mistakes in migrations, before a database has them.
struct MigrateLintCommand: LeafCommand {
  static let configuration = CommandConfiguration(
    commandName: "lint", abstract: "Look for mistakes in the files of migrations.",
    discussion: """
      Example: storecli migrate lint
      Runs the migrations in an empty database, each of them forwards, back and forwards again. \
      Reports wrong names, versions that occur twice, statements that fail or that a migration may \
      not run, deleted values, lost indexes and triggers, and ways back that are missing or lead \
      elsewhere. It needs no database; if there is one, it also reports files that come too late. \
      A line -- allow: data loss in a file accepts that it deletes values. Exits with 2 if it \
      found something.
      """)

  @OptionGroup var source: MigrationOptions
  @OptionGroup(title: "Common options") var options: GlobalOptions

  func run(_ context: CommandContext) throws -> ExitCode {
    let directory = try MigrationDirectory(option: source.migrations)
    let (files, problems) = try directory.contents()
    var findings = problems.map { (path: $0.path, text: $0.message) }
    findings += try rehearse(files, context)
    findings += try late(files, context)
    findings.sort { ($0.path, $0.text) < ($1.path, $1.text) }
    try context.writeReport(
      of: "finding",
      columns: [OutputColumn("file", role: .key), OutputColumn("finding", role: .whole)],
      rows: findings.map { [.text($0.path), .text($0.text)] })
    return findings.isEmpty ? .ok : .found
  }

  private func rehearse(
    _ files: [MigrationFile], _ context: CommandContext
  ) throws -> [(path: String, text: String)] {
    let rehearsal = try MigrationRehearsal(
      functions: context.application.configuration.functions)
    var found: [(path: String, text: String)] = []
    // A squash has the number of the last file that it replaces.
    let replaced = Set(files.flatMap { file in file.replaces.filter { $0 != file.version } })
    for file in files where !replaced.contains(file.version) {
      if SQLTokens(file.up).significant.isEmpty {
        found.append((file.path, "its section -- up has no statement"))
      }
      if file.down == .missing {
        found.append(
          (file.path, "has no way back; write statements after -- down, or -- down: irreversible"))
      }
      let findings = try rehearsal.run(file.migration)
      for finding in findings {
        if case .loses = finding, file.allowsLoss { continue }
        found.append((file.path, finding.text))
      }
      // What follows would fail because of it.
      if findings.contains(where: { if case .fails = $0 { true } else { false } }) {
        guard context.application.declarations.isEmpty else { return found }
        return found + [(directoryNote(file, among: files))].compactMap(\.self)
      }
    }
    return found
  }

  /// That later files were not run.
  private func directoryNote(
    _ file: MigrationFile, among files: [MigrationFile]
  ) -> (path: String, text: String)? {
    let count = files.count { $0.version > file.version }
    guard count > 0 else { return nil }
    return (file.path, "\(Grouped.text(count, "later file")) could not be run because of it")
  }

  /// Files that a database would refuse, because it has had later ones. No database, no finding.
  private func late(
    _ files: [MigrationFile], _ context: CommandContext
  ) throws -> [(path: String, text: String)] {
    guard context.application.declarations.isEmpty, let location = try database(context),
      Set(files.map(\.version)).count == files.count
    else { return [] }
    let store = try context.openForReading(at: location.path).store
    defer { store.close() }
    let statuses = try FileMigrations(of: store, declared: files.map(\.migration)).status()
    guard let later = statuses.last(where: { $0.applied != nil }) else { return [] }
    return files.compactMap { file in
      guard statuses.contains(where: { $0.version == file.version && $0.state == .late }) else {
        return nil
      }
      return (
        file.path,
        """
        comes too late: \(location.path) has had \(later.version) \(later.name) before; give it a \
        version above \(later.version)
        """
      )
    }
  }

  private func database(_ context: CommandContext) throws -> DatabaseLocation? {
    do {
      let location = try context.location()
      return location.exists ? location : nil
    } catch let error as CommandError where error.exitCode == .usage {
      // No source names a database.
      return nil
    }
  }
}

extension MigrationRehearsal.Finding {
  /// A phrase or sentence about the file.
  fileprivate var text: String {
    switch self {
    case .fails(let sentence), .reverseFails(let sentence): sentence
    case .loses(let loss): loss.sentence
    case .forgets(let names):
      "It rebuilds a table and loses \(names.joined(separator: ", ")). Create it again at the end."
    case .reverseDiffers(let names):
      "Its way back leaves \(names.joined(separator: ", ")) in another form."
    }
  }
}
