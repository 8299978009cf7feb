/// A word of another program's shell, and what to type instead. Nothing runs a guess.
struct Habit: Equatable {
  let word: String
  let hint: String

  /// The habit in the words of a command; nil if they are none.
  init?(_ words: [String]) {
    guard let first = words.first, let hint = Self.hint(first.lowercased(), words) else {
      return nil
    }
    word = first
    self.hint = hint
  }

  private static func hint(_ word: String, _ words: [String]) -> String? {
    switch word {
    case "create", "drop", "alter":
      let objects: Set = [
        "table", "index", "view", "trigger", "unique", "temp", "temporary", "virtual",
      ]
      let isAboutTables = words.dropFirst().first.map { objects.contains($0.lowercased()) } ?? false
      return isAboutTables ? "a session changes records; change tables in a migration" : nil
    case _ where word.hasPrefix(".") || word.hasPrefix("\\"):
      return dotted[String(word.dropFirst())] ?? "help"
    default: return others[word]
    }
  }

  private static let others = [
    "quit": "exit", "q": "exit", ":q": "exit", "?": "help", "end": "commit", "abort": "rollback",
    "start": "begin", "describe": "models MODEL", "desc": "models MODEL", "vacuum": "compact",
    "analyze": "compact", "reindex": "doctor", "attach": "leave, and open the other file with -d",
    "use": "leave, and open the other file with -d",
    "savepoint": "each statement of a transaction has its own savepoint; a refused one is undone",
    "release": "each statement of a transaction has its own savepoint; a refused one is undone",
  ]

  /// Commands of sqlite3 and psql, without their first character.
  private static let dotted = [
    "schema": "models MODEL", "tables": "models", "indexes": "models MODEL", "quit": "exit",
    "exit": "exit", "q": "exit", "help": "help", "?": "help", "h": "help", "d": "models",
    "dt": "models", "databases": "models", "dump": "export MODEL", "import": "import FILE",
    "mode": "add -o FORMAT to a command, or start the session with it",
    "headers": "add --header to a command", "output": "start the session with > FILE",
    "once": "start the session with > FILE", "read": "start the session with < FILE",
    "open": "leave, and open the other file with -d", "backup": "backup FILE",
    "restore": "restore FILE", "timeout": "start the session with --busy-timeout SECONDS",
    "watch": "watch MODEL",
  ]
}
