import ModelStore

#if canImport(Glibc)
  import Glibc
#elseif canImport(Musl)
  import Musl
#else
  import Darwin
#endif

/// The backups beside a database that migrations made: `app.db.bak-20260820101500`, with the
/// version that the database had.
struct MigrationBackups {
  /// How many backups stay.
  static let countMax = 3

  private let directory: String
  /// With which their names begin.
  private let prefix: String

  init(of database: String) {
    let (directory, name) = DatabaseLocation.split(database)
    self.directory = directory
    prefix = "\(name).bak-"
  }

  /// Makes the next backup at a path without a file. If another program makes one there at the
  /// same time, the next path is tried.
  ///
  /// - Parameter write: Throws ``StoreError`` with code `fileExists` if there is a file.
  /// - Returns: The path.
  func make(for version: Int64, _ write: (_ path: String) throws -> Void) throws -> String {
    let first = DatabaseLocation.path("\(prefix)\(version)", from: directory)
    for number in 1..<10_000 {
      let path = number == 1 ? first : "\(first)-\(number)"
      guard FileIdentity(of: path) == nil else { continue }
      do {
        try write(path)
        return path
      } catch let error as StoreError where error.code == .fileExists {
        continue
      }
    }
    throw CommandError(.failed, code: "fileExists", "There are too many backups like \(first).")
  }

  /// Removes all but the newest backups.
  ///
  /// - Returns: The paths that were removed.
  func removeOld() -> [String] {
    let paths = Directory(path: directory).readableNames.filter(isBackup)
      .map { DatabaseLocation.path($0, from: directory) }
    let byAge = paths.sorted { Self.age(of: $0) < Self.age(of: $1) }
    return byAge.dropLast(Self.countMax).filter { unlink($0) == 0 }
  }

  /// Whether a file name has the form that this type gives.
  private func isBackup(_ name: String) -> Bool {
    guard name.hasPrefix(prefix) else { return false }
    let parts = name.dropFirst(prefix.count).split(separator: "-", omittingEmptySubsequences: false)
    return (1...2).contains(parts.count)
      && parts.allSatisfy { !$0.isEmpty && $0.utf8.allSatisfy { (0x30...0x39).contains($0) } }
  }

  /// When the file was written, in nanoseconds since 1970.
  private static func age(of path: String) -> Int64 {
    var status = stat()
    guard stat(path, &status) == 0 else { return 0 }
    #if canImport(Darwin)
      let time = status.st_mtimespec
    #else
      let time = status.st_mtim
    #endif
    return Int64(time.tv_sec) * 1_000_000_000 + Int64(time.tv_nsec)
  }
}
