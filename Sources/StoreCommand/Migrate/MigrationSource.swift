import ModelStore

/// The migrations and models that a command works with: what the application declares, or the files
/// of a directory.
struct MigrationSource {
  let directory: MigrationDirectory
  let migrations: [Migration]
  let models: [ModelSchema]
  /// Whether the application declares them.
  let isOfApplication: Bool
  /// By version; empty for an application.
  private let files: [Int64: MigrationFile]

  /// What a directory that does not exist means.
  enum MissingDirectory {
    case isAnError
    /// There is no migration yet.
    case isEmpty
  }

  /// - Throws: ``CommandError`` for the first file with a problem.
  init(
    _ options: MigrationOptions, _ context: CommandContext,
    missingDirectory: MissingDirectory = .isAnError
  ) throws {
    directory = try MigrationDirectory(option: options.migrations)
    let declarations = context.application.declarations
    isOfApplication = !declarations.isEmpty
    guard !isOfApplication else {
      migrations = declarations.migrations ?? []
      models = declarations.models
      files = [:]
      return
    }
    let files =
      directory.isMissing && missingDirectory == .isEmpty ? [] : try directory.load()
    migrations = files.map(\.migration)
    models = []
    self.files = Dictionary(files.map { ($0.version, $0) }) { first, _ in first }
  }

  /// The newest version; 0 if there is no migration.
  var newestVersion: Int64 { migrations.map(\.version).max() ?? 0 }

  /// What a person calls a migration: the path of its file, if it has one.
  func title(_ version: Int64, _ name: String) -> String {
    files[version]?.path ?? "\(version) \(name)"
  }

  /// The name of the file, without its directory.
  func shortTitle(_ version: Int64, _ name: String) -> String {
    files[version]?.fileName ?? "\(version) \(name)"
  }

  func path(of version: Int64) -> String? { files[version]?.path }

  /// The version that a word means: digits, or the name or path of a file.
  ///
  /// - Parameter known: The versions that there are.
  /// - Throws: ``CommandError`` with near misses.
  static func version(_ word: String, among known: [Int64]) throws -> Int64 {
    let name = DatabaseLocation.split(word).name
    let digits = name.prefix { $0 != "_" && $0 != "." }
    if let version = MigrationFile.version(digits), known.contains(version) { return version }
    let near = NearMiss.suggestions(for: String(digits), among: known.map(String.init))
    throw CommandError(
      .notFound, code: "unknownMigration",
      "There is no migration \(word)" + CommandError.meant(near), hint: "storecli migrate status")
  }
}

extension [MigrationStatus] {
  /// The newest version that the file has had; 0 for none.
  var newestApplied: Int64 { filter { $0.applied != nil }.map(\.version).max() ?? 0 }

  /// Throws for what stands between the file and its migrations: one that was changed, is missing,
  /// or comes too late.
  func check(against source: MigrationSource, _ context: CommandContext) throws {
    if let missing = last(where: { $0.state == .missing }) {
      throw source.missing(missing, newest: newestApplied)
    }
    if let changed = first(where: { $0.state == .changed }) {
      throw CommandError(
        .failed, code: "migrationConflict",
        """
        \(source.title(changed.version, changed.name)) was changed after the file had it; nothing \
        was changed.
        """, hint: "storecli migrate repair \(changed.version)")
    }
    guard let late = first(where: { $0.state == .late }),
      let later = last(where: { $0.applied != nil })
    else { return }
    throw source.late(late, after: later, at: context.surroundings.now)
  }
}

extension MigrationSource {
  fileprivate func missing(_ status: MigrationStatus, newest: Int64) -> CommandError {
    guard status.version > newestVersion else {
      return CommandError(
        .failed, code: "migrationConflict",
        "The file has had the migration \(status.version) \(status.name), which is missing here.",
        hint: isOfApplication ? nil : "restore its file in \(directory.path)")
    }
    let known =
      newestVersion == 0
      ? "there is no migration here" : "here the newest is \(newestVersion)"
    let remedy =
      directory.isMissing
      ? "say where they are: --migrations DIRECTORY" : "get the newer files into \(directory.path)"
    return CommandError(
      .newerSchema, code: "newerFormat",
      "The file has migrations up to \(newest), and \(known); nothing was changed.",
      hint: isOfApplication ? "update \(Program.name)" : remedy)
  }

  fileprivate func late(
    _ late: MigrationStatus, after later: MigrationStatus, at time: Int64
  ) -> CommandError {
    let next = Swift.max(MigrationVersion.now(time), later.version + 1)
    let rename = path(of: late.version).map { path in
      let (folder, _) = DatabaseLocation.split(path)
      let new = DatabaseLocation.path("\(next)_\(late.name).sql", from: folder)
      return "mv \(Shell.quoted(path)) \(Shell.quoted(new))"
    }
    return CommandError(
      .failed, code: "migrationConflict",
      """
      \(title(late.version, late.name)) comes too late: the file has had \
      \(title(later.version, later.name)) before. Give it a version above \(later.version); \
      nothing was changed.
      """, hint: rename)
  }
}

/// Versions of new files.
enum MigrationVersion {
  /// The time in UTC as 14 digits, such as 20260820101500.
  static func now(_ time: Int64) -> Int64 {
    let digits = TimeText.iso(time).filter(\.isNumber).prefix(14)
    return MigrationFile.version(digits) ?? 1
  }
}

/// Names of new files.
enum MigrationName {
  /// The words of `text` in lower case, joined by `_`: `Add due date` and `addDueDate` become
  /// `add_due_date`. Empty if it has no letter or digit of ASCII.
  static func snake(_ text: String) -> String {
    var words = ""
    var last: Character = "_"
    for character in text {
      let isUsable = character.isASCII && (character.isLetter || character.isNumber)
      let begins = isUsable && character.isUppercase && (last.isLowercase || last.isNumber)
      if begins || !isUsable, !words.isEmpty, words.last != "_" { words.append("_") }
      if isUsable { words += character.lowercased() }
      last = character
    }
    return words.last == "_" ? String(words.dropLast()) : words
  }
}
