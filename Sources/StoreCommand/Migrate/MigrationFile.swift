import ModelStore

/// One file of a directory of migrations: `20260820101500_add_due_date.sql`, with the SQL of both
/// directions in sections.
///
/// ```sql
/// -- up
/// ALTER TABLE Todo ADD COLUMN due TEXT;
///
/// -- down
/// ALTER TABLE Todo DROP COLUMN due;
/// ```
struct MigrationFile: Hashable {
  /// What takes a migration back.
  enum Down: Hashable {
    case sql(String)
    /// The file says so.
    case irreversible
    /// The file says nothing.
    case missing
  }

  let path: String
  let version: Int64
  let name: String
  let up: String
  let down: Down
  /// The versions for which it stands, from `-- replaces: 1, 2`.
  let replaces: [Int64]
  /// Whether it has the line `-- allow: data loss`.
  let allowsLoss: Bool

  static let ending = ".sql"

  /// Reads the text of a file.
  ///
  /// - Throws: ``MigrationProblem`` for a wrong name or wrong sections.
  init(path: String, text: String) throws(MigrationProblem) {
    self.path = path
    let fileName = DatabaseLocation.split(path).name
    guard let (version, name) = Self.parts(of: fileName) else {
      throw MigrationProblem(
        path,
        """
        a migration is called VERSION_NAME.sql, with digits, then lower-case letters, digits and \
        _, such as 20260820101500_add_due_date.sql
        """)
    }
    self.version = version
    self.name = name
    let sections = try Sections(of: Self.withoutMark(text), in: path)
    up = sections.up
    down = sections.down
    replaces = sections.replaces
    allowsLoss = sections.allowsLoss
  }

  /// The text without a byte order mark.
  private static func withoutMark(_ text: String) -> String {
    text.unicodeScalars.first == "\u{FEFF}"
      ? String(String.UnicodeScalarView(text.unicodeScalars.dropFirst())) : text
  }

  /// The version and the name in a file name; nil for another form.
  static func parts(of fileName: String) -> (version: Int64, name: String)? {
    guard fileName.hasSuffix(ending) else { return nil }
    let stem = fileName.dropLast(ending.count)
    guard let line = stem.firstIndex(of: "_"), let version = version(stem[..<line]) else {
      return nil
    }
    let name = String(stem[stem.index(after: line)...])
    return isName(name) ? (version, name) : nil
  }

  /// The version that digits mean; nil for anything else, and for 0.
  static func version(_ text: Substring) -> Int64? {
    guard !text.isEmpty, text.utf8.allSatisfy({ (0x30...0x39).contains($0) }) else { return nil }
    return Int64(text).flatMap { $0 > 0 ? $0 : nil }
  }

  static func isName(_ name: String) -> Bool {
    !name.isEmpty
      && name.utf8.allSatisfy { byte in
        (0x61...0x7A).contains(byte) || (0x30...0x39).contains(byte) || byte == 0x5F
      }
  }

  /// The name of a file, without its directory.
  var fileName: String { DatabaseLocation.split(path).name }

  /// The migration as a program declares it.
  var migration: Migration {
    let reverse: String? = if case .sql(let text) = down { text } else { nil }
    return Migration(
      version: version, name: name, sql: up, reverse: reverse, replaces: replaces)
  }

  /// The text of a file with these sections.
  ///
  /// - Parameters:
  ///   - notes: Lines of comment before the sections.
  ///   - down: Nil if the migration is irreversible.
  static func text(
    notes: [String] = [], replaces: [Int64] = [], up: [String], down: [String]?
  ) -> String {
    var lines = notes.map { $0.isEmpty ? "--" : "-- \($0)" }
    if !replaces.isEmpty {
      lines.append("-- replaces: \(replaces.map(String.init).joined(separator: ", "))")
    }
    if !lines.isEmpty { lines.append("") }
    lines.append("-- up")
    lines += up
    lines.append("")
    if let down {
      lines.append("-- down")
      lines += down
    } else {
      lines.append("-- down: irreversible")
    }
    return lines.joined(separator: "\n") + "\n"
  }
}

/// Why a file is not a migration, or what is wrong with it.
struct MigrationProblem: Error, Hashable {
  let path: String
  /// A phrase or sentence about the file.
  let message: String

  init(_ path: String, _ message: String) {
    self.path = path
    self.message = message
  }

  /// The error of a command that needs the file.
  var commandError: CommandError {
    CommandError(
      .failed, code: "migrationFile", "\(path): \(message)", hint: "storecli migrate lint")
  }
}

/// The parts of a file, which comments on lines of their own separate.
private struct Sections {
  private(set) var up = ""
  private(set) var down = MigrationFile.Down.missing
  private(set) var replaces: [Int64] = []
  private(set) var allowsLoss = false

  private enum Mark {
    case up
    case down
    case irreversible
    case allowsLoss
    case replaces([Int64])
  }

  init(of text: String, in path: String) throws(MigrationProblem) {
    let source = SQLTokens(text)
    var start: Int?
    var end: Int?
    var downStart: Int?
    // Those inside a table or trigger are comments of the application.
    for index in source.outerComments {
      let token = source.tokens[index]
      let isOnOwnLine =
        index == 0
        || source.tokens[index - 1].kind == .space
          && source.text(source.tokens[index - 1].range).contains { $0.isNewline }
      guard isOnOwnLine, let mark = try Self.mark(source.text(token.range), in: path) else {
        continue
      }
      switch mark {
      case .up:
        guard start == nil else { throw MigrationProblem(path, "has two sections -- up") }
        start = token.range.upperBound
      case .down, .irreversible:
        guard start != nil, end == nil else {
          throw MigrationProblem(
            path, end == nil ? "has -- down before -- up" : "has two sections -- down")
        }
        end = token.range.lowerBound
        if case .down = mark { downStart = token.range.upperBound } else { down = .irreversible }
      case .allowsLoss: allowsLoss = true
      case .replaces(let versions): replaces += versions
      }
    }
    guard let start else {
      throw MigrationProblem(
        path, "has no line -- up before its statements; -- down begins the way back")
    }
    let all = text.utf8.count
    guard SQLTokens(source.text(0..<start)).significant.isEmpty else {
      throw MigrationProblem(path, "has statements before the line -- up")
    }
    up = Self.trimmed(source.text(start..<(end ?? all)))
    if let downStart {
      let text = source.text(downStart..<all)
      // A section without a statement would take nothing back.
      let isFilled = !SQLTokens(text).significant.isEmpty || SQLTokens(up).significant.isEmpty
      down = isFilled ? .sql(Self.trimmed(text)) : .missing
    } else if let end, !SQLTokens(source.text(end..<all)).significant.isEmpty {
      throw MigrationProblem(path, "has statements after -- down: irreversible")
    }
  }

  /// What a comment says about sections; nil for any other comment.
  private static func mark(_ comment: String, in path: String) throws(MigrationProblem) -> Mark? {
    guard comment.hasPrefix("--") else { return nil }
    let words = trimmed(String(comment.dropFirst(2))).lowercased()
    switch words {
    case "up": return .up
    case "down": return .down
    case "down: irreversible": return .irreversible
    case "allow: data loss": return .allowsLoss
    default: break
    }
    guard let colon = words.firstIndex(of: ":") else { return nil }
    let value = words[words.index(after: colon)...]
    switch words[..<colon] {
    case "up", "down":
      throw MigrationProblem(
        path, "has the line \(trimmed(comment)); write -- up, -- down or -- down: irreversible")
    case "replaces":
      let parts = value.split { $0 == "," || $0.isWhitespace }
      let versions = parts.compactMap { MigrationFile.version($0) }
      guard !versions.isEmpty, versions.count == parts.count else {
        throw MigrationProblem(path, "has the line \(trimmed(comment)); write versions and commas")
      }
      return .replaces(versions)
    default: return nil
    }
  }

  /// The text without blanks and empty lines around it.
  private static func trimmed(_ text: String) -> String {
    let start = text.drop { $0.isWhitespace }
    guard let last = start.lastIndex(where: { !$0.isWhitespace }) else { return "" }
    return String(start[...last])
  }
}
