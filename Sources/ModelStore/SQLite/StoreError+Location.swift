#if canImport(Glibc)
  internal import Glibc
#elseif canImport(Musl)
  internal import Musl
#else
  internal import Darwin
#endif

extension DatabaseFile {
  /// - Throws: ``StoreError`` with code `fileReplaced` if the path names another file than the
  ///   opened file.
  func checkPresence() throws(StoreError) {
    guard !isStillThere() else { return }
    throw StoreError(
      .fileReplaced,
      "\(path) was replaced, renamed or removed while the store was open, so nothing was done. The commits of this store are in the earlier file and its log, not at this path. Close every program that has the database open. \(Self.settingLogAside(of: path, "If the log of the earlier file is then still there"))"
    )
  }

  /// Returns how to prevent SQLite from applying a log to a database that it does not belong to.
  fileprivate static func settingLogAside(of path: String, _ condition: String) -> String {
    let log = path + "-wal"
    return
      "\(condition), run mv \(log.shellWord) \((log + ".old").shellWord) && rm -f \((path + "-shm").shellWord) before you open \(path): SQLite would apply that log to the new file and damage it."
  }
}

extension DatabaseFile.Problem {
  /// The error for the person that specified the path.
  var storeError: StoreError { StoreError(code, sentence) }

  private var code: StoreError.Code {
    switch self {
    case .emptyPath, .notFound, .directoryNotFound: .fileNotFound
    case .tooShort: .notADatabase
    case .foreignLog, .staleLog: .fileReplaced
    case .refused: .permissionDenied
    case .namesMemory, .isDirectory, .danglingLink, .untrustedLink, .notAFile, .unusableName,
      .unsafeCompanion, .hardLinked, .unsuitableFileSystem, .replaceable, .planted:
      .unsafeLocation
    }
  }

  private var sentence: String {
    switch self {
    case .emptyPath:
      "The path of the store is empty. Specify a file."
    case .namesMemory(let path):
      "\(path) is a name for a database in memory, not for a file. Call Store.inMemory to open a store in memory, or write ./ before the name of a file."
    case .notFound(let path):
      "There is no file at \(path)."
    case .directoryNotFound(let path):
      "There is no directory \(path); create it first."
    case .isDirectory(let path):
      "\(path) is a directory. Specify a file in it."
    case .danglingLink(let path, let target):
      "\(path) is a symbolic link to \(target), which does not exist. To create a database there, open \(target) itself."
    case .untrustedLink(let path, let owner):
      "\(path) is a symbolic link of \(SystemUsers.userText(owner)) in a directory where other users can create links. It may lead to any file; open the file itself."
    case .notAFile(let path):
      "\(path) is not a regular file."
    case .unusableName(let path):
      "\(path.debugDescription) cannot be the path of a store: it is too long for SQLite or contains a NUL character."
    case .unsafeCompanion(let path, let problem):
      "\(path) \(problem.text(for: path))"
    case .tooShort(let path, let size):
      "\(path) is not an SQLite database: it has only \(size) bytes."
    case .hardLinked(let path, let count):
      "\(path) has \(count) names (hard links); a store must have one. Remove the others."
    case .unsuitableFileSystem(let path, let fileSystem):
      "\(path) is on \(fileSystem.name), \(fileSystem.reason.text). Keep the store on a local disk."
    case .replaceable(let path, let directory, let writers):
      Self.text(replaceable: path, in: directory, by: writers)
    case .planted(let path, let owner):
      "\(path) belongs to \(SystemUsers.userText(owner)) and is in a directory where any user can create files, so that user may have put it there for you to use by mistake. It can only be read. Copy it to a directory of your own to write."
    case .foreignLog(let path, let logPageSize, let pageSize):
      "\(path)-wal is the log of another database: its pages have \(logPageSize) bytes, those of \(path) have \(pageSize). Nothing was opened. Close every program that has the database open. \(DatabaseFile.settingLogAside(of: path, "Then"))"
    case .staleLog(let path):
      "\(path)-wal is not the log of \(path): it continues another state of the database, or another database. Nothing was opened. If another file belongs at \(path), put that one back: the commits in the log are not in this one. Otherwise close every program that has the database open. \(DatabaseFile.settingLogAside(of: path, "If the log is then still there"))"
    case .refused(let path, let number):
      "\(path): \(String(cString: strerror(number)))."
    }
  }

  private static func text(
    replaceable path: String, in directory: String, by writers: OtherWriters
  ) -> String {
    switch writers {
    case .anyone:
      "Any user can replace \(path), because any user can write \(directory). It can only be read. Run chmod o-w \(directory.shellWord), or chmod +t \(directory.shellWord) so that users replace only their own files."
    case .group(let group):
      "The members of \(SystemUsers.groupText(group)) can replace \(path), because they can write \(directory). It can only be read. Run chmod g-w \(directory.shellWord); if the group shares the database, also give the file to that group and open it as shared (StoreConfiguration.sharing = .group, storecli --shared-with-group)."
    }
  }
}

extension LocationSafety.CompanionProblem {
  /// Returns what is wrong with the file at `path` beside a database, and what to do: the sentence
  /// after its name.
  fileprivate func text(for path: String) -> String {
    let remedy =
      "Find out which program created it. To open the database without it, run mv \(path.shellWord) \((path + ".old").shellWord)."
    return switch self {
    case .notARegularFile:
      "is a link or a directory, not a file of this store. SQLite would write through it. \(remedy)"
    case .hardLinked(let count):
      "has \(count) names (hard links). SQLite would write to a file that other programs use. \(remedy)"
    case .foreignOwner(let owner):
      "belongs to \(SystemUsers.userText(owner)), not to the database's owner, root or this user. SQLite would use its contents as a part of the database. \(remedy) If users of a group share the database, open it as shared (StoreConfiguration.sharing = .group, storecli --shared-with-group)."
    case .writable(.anyone):
      "can be written by any user, but the database cannot. SQLite would use its contents as a part of the database. \(remedy) If it is yours, run chmod o-w \(path.shellWord)."
    case .writable(.group(let group)):
      "can be written by the members of \(SystemUsers.groupText(group)), but the database cannot. SQLite would use its contents as a part of the database. \(remedy) If it is yours, run chmod g-w \(path.shellWord)."
    }
  }
}

extension String {
  /// The text as one word of a shell command.
  var shellWord: String {
    let isPlain = utf8.allSatisfy { byte in
      switch UnicodeScalar(byte) {
      case "a"..."z", "A"..."Z", "0"..."9", "/", ".", "_", "-", "+", ",", ":", "@", "%": true
      default: false
      }
    }
    if isPlain, !isEmpty, !hasPrefix("-") { return self }
    return "'" + split(separator: "'", omittingEmptySubsequences: false).joined(separator: "'\\''")
      + "'"
  }
}
