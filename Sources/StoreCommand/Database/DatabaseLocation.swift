#if canImport(Glibc)
  import Glibc
#else
  import Darwin
#endif

/// Where the database is, and who said so. It looks and opens nothing but configuration files.
struct DatabaseLocation: Hashable, Sendable {
  /// Who named the database.
  enum Source: Hashable, Sendable {
    case option
    case environment
    /// The nearest `storecli.toml`, by its path.
    case project(String)
    /// The person's own configuration, by its path.
    case person(String)
  }

  static let environmentName = "STORECLI_DB"
  static let projectFileName = "storecli.toml"

  let path: String
  let source: Source

  /// Finds the database: `-d`, then `STORECLI_DB`, then `db` in the nearest `storecli.toml` from
  /// the current directory up to the root of the repository, then `db` in
  /// `$XDG_CONFIG_HOME/storecli/config.toml`. A path in a file counts from that file.
  ///
  /// - Throws: ``CommandError``, with the databases lying here as a hint, when nobody names one.
  init(option: String?) throws {
    if let option {
      self.init(path: option, source: .option)
      return
    }
    let variables = Terminal.environment([Self.environmentName, "XDG_CONFIG_HOME", "HOME"])
    if let path = variables[Self.environmentName], !path.isEmpty {
      self.init(path: path, source: .environment)
      return
    }
    for directory in Self.directoriesUpToRepositoryRoot() {
      let file = directory + "/" + Self.projectFileName
      if let path = try ConfigurationFile(path: file)?.string(named: "db") {
        self.init(path: Self.path(path, from: directory), source: .project(file))
        return
      }
    }
    let home = variables["HOME"].map { $0 + "/.config" }
    let configured = variables["XDG_CONFIG_HOME"].flatMap { $0.hasPrefix("/") ? $0 : nil }
    if let directory = (configured ?? home).map({ $0 + "/storecli" }) {
      let file = directory + "/config.toml"
      if let path = try ConfigurationFile(path: file)?.string(named: "db") {
        self.init(path: Self.path(path, from: directory), source: .person(file))
        return
      }
    }
    let here = Self.databases(in: ".")
    throw CommandError.usage(
      "No database was named: pass -d PATH, set STORECLI_DB, or write db = \"PATH\" in storecli.toml.",
      hint: here.first.map { "storecli models -d \(Shell.quoted($0))" }
        ?? "storecli help environment")
  }

  private init(path: String, source: Source) {
    self.path = path
    self.source = source
  }

  /// Where the path came from, to follow it: `./app.store via -d`.
  var sourceText: String {
    switch source {
    case .option: "-d"
    case .environment: Self.environmentName
    case .project(let file), .person(let file): file
    }
  }

  /// The file itself and what SQLite keeps beside it; nobody else may open these.
  var storePaths: [String] { [path, path + "-wal", path + "-shm", path + "-journal"] }

  /// Whether something is there, whatever it is.
  var exists: Bool {
    var status = stat()
    return lstat(path, &status) == 0 || errno != ENOENT && errno != ENOTDIR
  }

  /// The error for a path where nothing is, with the files that may have been meant.
  var missing: CommandError {
    let (directory, name) = Self.split(path)
    let files = Self.databases(in: directory)
    let near = NearMiss.suggestions(for: name, among: files)
    let candidates = near.isEmpty ? Array(files.prefix(3)) : near
    let shown = candidates.map { directory == "." ? "./" + $0 : Self.path($0, from: directory) }
    return CommandError(
      .notFound, code: "fileNotFound",
      "There is no file at \(path) (named by \(sourceText))" + CommandError.meant(shown),
      hint: shown.first.map { "storecli models -d \(Shell.quoted($0))" } ?? "storecli demo")
  }

  private static func split(_ path: String) -> (directory: String, name: String) {
    guard let slash = path.lastIndex(of: "/") else { return (".", path) }
    let directory = path[..<slash]
    return (directory.isEmpty ? "/" : String(directory), String(path[path.index(after: slash)...]))
  }

  private static func path(_ path: String, from directory: String) -> String {
    if path.hasPrefix("/") { return path }
    return directory == "/" ? "/" + path : directory + "/" + path
  }

  /// The current directory and its parents, to the one that holds `.git`, or to the root.
  private static func directoriesUpToRepositoryRoot() -> [String] {
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

  /// The names of the files in `directory` that look like databases, sorted.
  private static func databases(in directory: String) -> [String] {
    guard let stream = opendir(directory) else { return [] }
    defer { closedir(stream) }
    var names: [String] = []
    while let entry = readdir(stream) {
      let name = withUnsafePointer(to: &entry.pointee.d_name) { pointer in
        pointer.withMemoryRebound(to: CChar.self, capacity: 256) { String(cString: $0) }
      }
      if [".store", ".db", ".sqlite", ".sqlite3"].contains(where: name.hasSuffix) {
        names.append(name)
      }
    }
    return names.sorted()
  }
}
