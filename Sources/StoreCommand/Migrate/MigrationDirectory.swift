import ModelStore
import RecordFormats

#if canImport(Glibc)
  import Glibc
#elseif canImport(Musl)
  import Musl
#else
  import Darwin
#endif

/// The directory of the migrations of a project, and the schema beside them.
struct MigrationDirectory {
  static let usualName = "Migrations"
  static let schemaName = "schema.sql"

  let path: String

  /// Finds the directory: `--migrations`, else `migrations` in the nearest `storecli.toml`, else
  /// `Migrations` beside that file or in the current directory. A path in the file counts from it.
  ///
  /// - Throws: ``CommandError`` for a configuration file that another user may have written.
  init(option: String?) throws {
    if let option {
      path = option
      return
    }
    for directory in DatabaseLocation.directoriesUpToRepositoryRoot() {
      let file = directory + "/" + DatabaseLocation.projectFileName
      guard let configuration = try ConfigurationFile(path: file) else { continue }
      try configuration.requireKeys(among: ConfigurationFile.keys)
      let named = try configuration.string(named: "migrations") ?? Self.usualName
      path = DatabaseLocation.path(named, from: directory)
      return
    }
    path = Self.usualName
  }

  func file(named name: String) -> String { DatabaseLocation.path(name, from: path) }

  var schemaPath: String { file(named: Self.schemaName) }

  /// Whether nothing is at its path.
  var isMissing: Bool { FileIdentity(of: path) == nil }

  /// The files in the order of versions, and what is wrong with others.
  ///
  /// - Throws: ``CommandError`` if there is no such directory, or it cannot be read.
  func contents() throws -> (files: [MigrationFile], problems: [MigrationProblem]) {
    var files: [MigrationFile] = []
    var problems: [MigrationProblem] = []
    for name in try names() {
      do throws(MigrationProblem) {
        files.append(try MigrationFile(path: file(named: name), text: text(of: name)))
      } catch {
        problems.append(error)
      }
    }
    files.sort { $0.version < $1.version }
    for (first, second) in zip(files, files.dropFirst()) where first.version == second.version {
      problems.append(
        MigrationProblem(
          second.path,
          "has the version \(second.version) of \(first.fileName); give one of them another version"
        ))
    }
    return (files, problems)
  }

  /// The names of the files of SQL, also of those whose ending is in other letters.
  private func names() throws -> [String] {
    do throws(SystemError) {
      return try Directory(path: path).names().filter { name in
        name.asciiFolded.hasSuffix(MigrationFile.ending) && name != Self.schemaName
          && !name.hasPrefix(".")
      }
    } catch {
      guard error.isNoSuchFile else {
        throw CommandError(
          .failed, code: "input", "The directory \(path) cannot be read: \(error).")
      }
      throw CommandError(
        .notFound, code: "noMigrations", "There is no directory \(path) with migrations.",
        hint: "storecli migrate new NAME")
    }
  }

  /// The files in the order of versions.
  ///
  /// - Throws: ``CommandError`` for the first problem.
  func load() throws -> [MigrationFile] {
    let (files, problems) = try contents()
    if let problem = problems.first { throw problem.commandError }
    return files
  }

  /// The highest version in the names of its files, whatever is in them; nil if there is none.
  ///
  /// - Throws: ``CommandError`` if there is something else at its path, or it cannot be read.
  func newestVersion() throws -> Int64? {
    guard !isMissing else { return nil }
    do throws(SystemError) {
      return try Directory(path: path).names().compactMap { MigrationFile.parts(of: $0)?.version }
        .max()
    } catch {
      throw CommandError(
        .failed, code: "input", "\(path) cannot be read: \(error); nothing was written.")
    }
  }

  /// Runs `body` while no other program runs one. Creates the directory if there is none.
  ///
  /// A file system without such locks has none; then two programs at once may choose one version,
  /// which every command would report.
  func whileLocked<Result>(_ body: () throws -> Result) throws -> Result {
    try Directory(path: path).create()
    let descriptor = open(path, O_RDONLY | O_DIRECTORY | O_CLOEXEC)
    guard descriptor >= 0 else {
      throw CommandError(
        .failed, code: "input",
        "\(path) cannot be locked: \(SystemError.last); nothing was written.")
    }
    defer { close(descriptor) }
    while flock(descriptor, LOCK_EX) != 0, errno == EINTR {}
    return try body()
  }

  private func text(of name: String) throws(MigrationProblem) -> String {
    let path = file(named: name)
    let bytes: [UInt8]
    do throws(InputError) {
      bytes = try InputFiles(surroundings: .process).bytes(at: path)
    } catch {
      throw MigrationProblem(path, error.description)
    }
    guard let text = String(validating: bytes, as: UTF8.self) else {
      throw MigrationProblem(path, "its text is not UTF-8")
    }
    return text
  }

  /// The text of a file of SQL.
  ///
  /// - Throws: ``CommandError`` naming the path, also for bytes that are not UTF-8.
  static func text(at path: String, in surroundings: Surroundings = .process) throws -> String {
    let bytes = try InputFiles(surroundings: surroundings).contents(of: path)
    guard let text = String(validating: bytes, as: UTF8.self) else {
      throw CommandError(.failed, code: "input", "\(path): the text is not UTF-8.")
    }
    return text
  }

  /// Writes a new file, complete or not at all. Creates the directory if there is none.
  ///
  /// - Throws: ``CommandError`` if a file has that name.
  func create(_ name: String, _ text: String) throws -> String {
    try Directory(path: path).create()
    let path = file(named: name)
    guard FileIdentity(of: path) == nil else {
      throw CommandError(
        .failed, code: "fileExists", "There is already a file at \(path).",
        hint: "choose another name")
    }
    try Self.write(text, to: path)
    return path
  }

  static func write(_ text: String, to path: String) throws {
    let file = try OutputFile(path: path, refusing: [])
    try file.sink.append(text)
    try file.close()
  }
}
