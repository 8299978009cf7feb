import ModelStore
import RecordFormats

#if canImport(Glibc)
  import Glibc
#elseif canImport(Musl)
  import Musl
#else
  import Darwin
#endif

/// Where the database is, and which source named it. It opens configuration files only.
struct DatabaseLocation: Hashable, Sendable {
  /// What named the database.
  enum Source: Hashable, Sendable {
    case option
    /// An argument of the command.
    case argument
    /// The application whose command line this is.
    case application
    case environment
    /// The nearest `storecli.toml`, by its path.
    case project(String)
    /// The person's own configuration, by its path.
    case person(String)
  }

  static let environmentName = "STORECLI_DB"
  static let ledgerEnvironmentName = "STORECLI_LEDGER"
  static let mirrorEnvironmentName = "STORECLI_MIRROR"
  static let projectFileName = "storecli.toml"

  let path: String
  let source: Source
  /// Which users share the database, where the file that names it says so.
  let sharing: StoreConfiguration.Sharing?
  /// The connection to the ledger of a shared store, where the file that names it says so.
  let ledger: String?

  /// Finds the database: `-d`, then the application's own, then `STORECLI_DB`, then `db` in the
  /// nearest `storecli.toml` from the current directory up to the root of the repository, then `db`
  /// in `$XDG_CONFIG_HOME/storecli/config.toml`. A path in a file counts from that file.
  ///
  /// - Throws: ``CommandError`` for a configuration file that another user may have written; with
  ///   the databases in the current directory as a hint, when no source names a database.
  init(option: String?, application: String?, in surroundings: Surroundings) throws {
    if let option {
      guard !option.isEmpty else { throw CommandError.usage("-d names no file.") }
      self.init(path: option, source: .option)
      return
    }
    if let application {
      self.init(path: application, source: .application)
      return
    }
    let variables = surroundings.variables([Self.environmentName, "XDG_CONFIG_HOME", "HOME"])
    if let path = variables[Self.environmentName], !path.isEmpty {
      self.init(path: path, source: .environment)
      return
    }
    for directory in Self.directoriesUpToRepositoryRoot() {
      let file = directory + "/" + Self.projectFileName
      if let found = try Self(configuration: file, in: directory, source: .project(file)) {
        self = found
        return
      }
    }
    let home = variables["HOME"].map { $0 + "/.config" }
    let configured = variables["XDG_CONFIG_HOME"].flatMap { $0.hasPrefix("/") ? $0 : nil }
    if let directory = (configured ?? home).map({ $0 + "/storecli" }) {
      let file = directory + "/config.toml"
      if let found = try Self(configuration: file, in: directory, source: .person(file)) {
        self = found
        return
      }
    }
    let here = Self.databases(in: ".")
    throw CommandError.usage(
      "No database was named: pass -d PATH, set STORECLI_DB, or write db = \"PATH\" in storecli.toml.",
      hint: here.first.map { "storecli models -d \(Shell.quotedPath($0))" }
        ?? "storecli help environment")
  }

  init(
    path: String, source: Source, sharing: StoreConfiguration.Sharing? = nil, ledger: String? = nil
  ) {
    self.path = path
    self.source = source
    self.sharing = sharing
    self.ledger = ledger
  }

  /// The database that a configuration file names; nil without a file or anything in it.
  private init?(configuration file: String, in directory: String, source: Source) throws {
    guard let configuration = try ConfigurationFile(path: file) else { return nil }
    guard let path = try configuration.string(named: "db") else {
      if let problem = configuration.problem(lacking: "db") { throw problem }
      return nil
    }
    try configuration.requireKeys(among: ConfigurationFile.keys)
    let word = try configuration.string(named: "sharing")
    let sharing = word.flatMap(StoreConfiguration.Sharing.init(rawValue:))
    if let word, sharing == nil {
      throw CommandError(
        .failed, code: "configuration",
        "\(file): sharing is \"\(word)\"; write sharing = \"owner\" or sharing = \"group\".")
    }
    self.init(
      path: Self.path(path, from: directory), source: source, sharing: sharing,
      ledger: try configuration.string(named: "ledger"))
  }

  /// Where the path came from, printed after it: `./app.store via -d`.
  var sourceText: String {
    switch source {
    case .option: "-d"
    case .argument: "an argument"
    case .application: Program.name
    case .environment: Self.environmentName
    case .project(let file), .person(let file): file
    }
  }

  /// The database and the files that SQLite and the store keep beside it; no command reads or
  /// writes them as data. A link to the database is among them too.
  var storePaths: [String] {
    let real = realpath(path, nil)
    defer { free(real) }
    let file = real.map { String(cString: $0) } ?? path
    return [path] + ["", "-wal", "-shm", "-journal", "-reserve"].map { file + $0 }
  }

  /// Whether any file exists there.
  var exists: Bool {
    var status = stat()
    return lstat(path, &status) == 0 || errno != ENOENT && errno != ENOTDIR
  }

  /// The error for a path without a file, with near misses.
  var missing: CommandError {
    let (directory, name) = Self.split(path)
    let files = Self.databases(in: directory)
    let near = NearMiss.suggestions(for: name, among: files)
    let candidates = near.isEmpty ? Array(files.prefix(3)) : near
    let shown = candidates.map { directory == "." ? "./" + $0 : Self.path($0, from: directory) }
    guard source != .argument else {
      return CommandError(
        .notFound, code: "fileNotFound",
        "There is no file at \(path)" + CommandError.meant(shown))
    }
    return CommandError(
      .notFound, code: "fileNotFound",
      "There is no file at \(path) (named by \(sourceText))" + CommandError.meant(shown),
      hint: shown.first.map { "storecli models -d \(Shell.quotedPath($0))" }
        ?? (source == .application ? nil : "storecli demo"))
  }

  static func split(_ path: String) -> (directory: String, name: String) {
    guard let slash = path.lastIndex(of: "/") else { return (".", path) }
    let directory = path[..<slash]
    return (directory.isEmpty ? "/" : String(directory), String(path[path.index(after: slash)...]))
  }

  static func path(_ path: String, from directory: String) -> String {
    if path.hasPrefix("/") { return path }
    return directory == "/" ? "/" + path : directory + "/" + path
  }

  /// The current directory and its parents, to the one that holds `.git`, or to the root.
  static func directoriesUpToRepositoryRoot() -> [String] {
    guard let current = getcwd(nil, 0) else { return [] }
    defer { free(current) }
    var parts = String(cString: current).split(separator: "/")
    var directories: [String] = []
    while true {
      let directory = "/" + parts.joined(separator: "/")
      directories.append(directory == "/" ? "" : directory)
      var status = stat()
      if parts.isEmpty || stat(directory + "/.git", &status) == 0 { return directories }
      parts.removeLast()
    }
  }

  /// Whether the name of a file ends as those of databases do.
  static func isNamedLikeDatabase(_ name: String) -> Bool {
    [".store", ".db", ".sqlite", ".sqlite3"].contains(where: name.hasSuffix)
  }

  /// The names of the files in `directory` that look like databases, sorted.
  private static func databases(in directory: String) -> [String] {
    // The names are only suggestions.
    Directory(path: directory).readableNames.filter(isNamedLikeDatabase)
  }
}
