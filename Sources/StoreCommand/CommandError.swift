import ModelStore
import RecordFormats

/// Why a command failed, as text for a person and as JSON for a program.
struct CommandError: Error {
  /// How it is written.
  enum Format: Hashable, Sendable {
    case text
    /// One object on one line.
    case json
  }

  var exitCode: ExitCode
  /// Short and stable, for programs.
  var code: String
  var message: String
  /// Lines below the message, such as the violations.
  var details: [String]
  /// A command that helps the person go on.
  var hint: String?
  var model: String?
  var field: String?
  var violations: [Violation]
  /// How many there are in all.
  var violationCount: Int
  /// Whether a stored value could not be read.
  private(set) var isUnreadable = false

  init(
    _ exitCode: ExitCode, code: String, _ message: String, details: [String] = [],
    hint: String? = nil, model: String? = nil, field: String? = nil, violations: [Violation] = [],
    violationCount: Int? = nil
  ) {
    self.exitCode = exitCode
    self.code = code
    self.message = message
    self.details = details
    self.hint = hint
    self.model = model
    self.field = field
    self.violations = violations
    self.violationCount = violationCount ?? violations.count
  }

  /// Wrong usage.
  static func usage(
    _ message: String, hint: String? = nil, model: String? = nil, field: String? = nil
  ) -> CommandError {
    CommandError(.usage, code: "usage", message, hint: hint, model: model, field: field)
  }

  /// `-o sql` where the result is not the records of a table.
  static var noTableForSQL: CommandError {
    usage(
      "-o sql writes records as INSERT statements. This result has no records of one table.",
      hint: "storecli help formats")
  }

  /// A stored value that cannot be read: a failure of the file, with its record where it is known.
  init(unreadable error: StoreError) {
    self.init(error)
    exitCode = .failed
    code = "unreadable"
    isUnreadable = true
    hint = error.model.map { "storecli validate \(Shell.quoted($0))" } ?? "storecli doctor"
    if error.isOversized { explainOversize(of: error) }
    if let model = error.model, let key = error.key {
      details = ["  \(model) \(KeyText.text(key))"]
    }
  }

  private mutating func explainOversize(of error: StoreError) {
    guard !error.isAboutNewValue else {
      message = "A value for \(error.place) is larger than \(Program.name) writes."
      hint = "set \(ValueLimit.environmentName) to more bytes (\(Program.name) help environment)"
      return
    }
    exitCode = .failed
    code = "unreadable"
    isUnreadable = true
    message = "\(error.place) holds a value larger than \(Program.name) reads or writes."
    hint =
      "set \(ValueLimit.environmentName) to more bytes (\(Program.name) help environment), or choose other "
      + "fields with --sql"
  }

  /// The error for what a command threw.
  init(_ error: any Error) {
    switch error {
    case let error as CommandError: self = error
    case let error as StoreError: self.init(error)
    case let error as InputError: self.init(error)
    case let error as OutputError: self.init(.failed, code: "output", "\(error)")
    case let error as PredicateTextError:
      self.init(error.storeError)
      exitCode = .usage
    default: self.init(.failed, code: "failed", "\(error)")
    }
  }

  private init(_ error: StoreError) {
    self.init(
      ExitCode(error.code), code: error.code.rawValue, error.message, hint: Self.hint(for: error),
      model: error.model, field: error.field, violations: error.violations,
      violationCount: error.violationCount)
    if error.isOversized {
      explainOversize(of: error)
      if let model, let key = error.key { details = ["  \(model) \(KeyText.text(key))"] }
      return
    }
    switch violations.count {
    case 0: break
    case 1 where violationCount == 1:
      message = Self.sentence(for: violations[0], error.message)
      guard violations[0].kind == .conflict else { break }
      hint = Self.history(of: violations[0])
    default:
      message = "Nothing was changed: \(Self.reasons(violations, count: violationCount))."
      details = Self.lines(for: violations, count: violationCount)
      if let first = violations.first, violations.allSatisfy({ $0.kind == .conflict }) {
        hint = Self.history(of: first)
      }
    }
    guard error.code == .invalidQuery, error.sqliteCode != nil else { return }
    // The command's words were compared with the catalog before SQLite saw them.
    if let missing = Self.missing(in: error.message) {
      self = .drift(missing, model: error.model)
      return
    }
    exitCode = .failed
    hint = "storecli doctor"
    message = Self.messageWithoutStatement(of: error)
  }

  /// The message of an error, without the statement that SQLite refused: it is the store's own.
  static func messageWithoutStatement(of error: StoreError) -> String {
    guard error.code == .invalidQuery, error.sqliteCode != nil,
      let end = error.message.firstRange(of: " in: ")
    else { return error.message }
    return error.message[..<end.lowerBound] + "."
  }

  /// The error for tables that lack what the catalog names; `missing` is SQLite's own message.
  static func drift(_ missing: String, model: String? = nil) -> CommandError {
    CommandError(
      .failed, code: StoreError.Code.invalidQuery.rawValue,
      "The tables are not as the file's catalog says: \(missing).", hint: "storecli doctor",
      model: model)
  }

  /// The warning about records that break rules which only warn.
  init(_ warned: WarnedRecords, isDryRun: Bool) {
    let violations = warned.violations
    let rules =
      Set(violations.map(\.rule)).count == 1 ? "The rule only warns" : "The rules only warn"
    let verdict = "\(rules), so the change \(isDryRun ? "would be" : "was") made."
    self.init(
      .ok, code: "rule", "", model: violations.first?.model,
      field: violations.first.flatMap { $0.fields.count == 1 ? $0.fields[0] : nil },
      violations: violations, violationCount: warned.count)
    guard warned.count == 1, let only = violations.first else {
      let verb = isDryRun ? "would break" : "break"
      message = "\(Grouped.text(warned.count, "record")) \(verb) a rule. \(verdict)"
      details = Self.lines(for: violations, count: warned.count)
      return
    }
    message = "\(Self.place(of: only)) \(only.message) (rule \(only.rule)). \(verdict)"
  }

  /// The message for one violation: the record, the reason and the rule.
  private static func sentence(for violation: Violation, _ message: String) -> String {
    guard violation.kind != .trigger else {
      return violation.rule == "trigger" ? message : "\(message) (trigger \(violation.rule))"
    }
    let place = violation.model.isEmpty ? "the transaction" : place(of: violation)
    if violation.kind == .conflict {
      let remedy = violation.remedy.map { " " + $0 } ?? ""
      return "Nothing was changed: \(place) \(violation.message).\(remedy)"
    }
    let remedy = violation.isAboutUsers ? violation.remedy.map { " " + $0 } ?? "" : ""
    return "Nothing was changed: \(place) \(violation.message) (rule \(violation.rule)).\(remedy)"
  }

  /// A short reason for a write that was refused because of several violations.
  private static func reasons(_ violations: [Violation], count: Int) -> String {
    let areConflicts = violations.allSatisfy { $0.kind == .conflict }
    if areConflicts {
      return "it conflicts with later changes of \(Grouped.text(count, "record"))"
    }
    if violations.allSatisfy(\.isAboutUsers) {
      return "other records still refer to what would be deleted"
    }
    return Set(violations.map(\.rule)).count == 1
      ? "\(Grouped.text(count, "record")) are refused" : "\(Grouped.text(count)) rules refuse it"
  }

  /// The command that shows who changed a record.
  private static func history(of violation: Violation) -> String {
    let record = violation.key.map { " \(Shell.quoted(KeyText.text($0)))" } ?? ""
    return "storecli history \(Shell.quoted(violation.model))\(record)"
  }

  /// A model, with the key and the fields if they are known: `Track 1.title`.
  private static func place(of violation: Violation) -> String {
    let record = violation.key.map { " \(KeyText.text($0))" } ?? ""
    let fields = violation.fields.isEmpty ? "" : ".\(violation.fields.joined(separator: ","))"
    return "\(violation.model)\(record)\(fields)"
  }

  /// SQLite's message about a missing table or column, without the statement behind it, which the
  /// user did not write; nil for other messages.
  private static func missing(in message: String) -> String? {
    for complaint in ["no such column: ", "no such table: ", "has no column named "] {
      guard let start = message.firstRange(of: complaint) else { continue }
      let words = message[start.lowerBound...]
      let end = words.firstRange(of: " in: ")?.lowerBound ?? words.endIndex
      return words[..<end].last == "." ? String(words[..<end].dropLast()) : String(words[..<end])
    }
    return nil
  }

  private init(_ error: InputError) {
    switch error.problem {
    case .interrupted:
      self.init(.interrupted, code: "interrupted", "Interrupted; nothing was written.")
    case .unreadable(let system):
      self.init(system.isNoSuchFile ? .notFound : .failed, code: "input", error.description)
    case .unkept: self.init(.failed, code: "input", error.description)
    case .refused: self.init(.usage, code: "input", error.description)
    case .otherEncoding(let name):
      self.init(
        .rejected, code: "input", error.description,
        hint: TextEncoding(name: name).map { "storecli import --encoding \($0.rawValue)" }
          ?? "iconv -f \(name) -t UTF-8 FILE > COPY")
    case .invalidUTF8:
      self.init(
        .rejected, code: "input", error.description,
        hint: "storecli import --encoding windows-1252, if that is its encoding")
    case .malformed, .invalidUTF16, .undefinedByte, .missingByteOrder, .columnCount,
      .recordTooLong:
      self.init(.rejected, code: "input", error.description)
    }
  }

  private static func hint(for error: StoreError) -> String? {
    switch error.code {
    case .fileNotFound, .notADatabase: "storecli models -d PATH"
    case .unknownModel: "storecli models"
    case .unknownField, .rejected, .invalidValue:
      error.model.map { "storecli models \(Shell.quoted($0))" }
    case .recordNotFound: error.model.map { "storecli query \(Shell.quoted($0))" }
    case .corrupt: "storecli doctor"
    case .invalidQuery: "storecli help predicates"
    case .unknownFunction: "storecli bindings list"
    case .unknownTransaction: "storecli history"
    case .unknownConsumer: "storecli consumers list"
    case .journalGap, .journalTrimmed: "storecli journal status"
    case .outdatedModel:
      "storecli adopt --refresh" + (error.model.map { " \(Shell.quoted($0))" } ?? "")
    default: nil
    }
  }

  /// One line for each violation, the first few in full.
  static func lines(for violations: [Violation], count: Int) -> [String] {
    let shown = violations.prefix(maxViolationCount).map { violation in
      "  \(place(of: violation))  \(violation.message)"
        + (violation.kind == .conflict ? "" : "  (rule \(violation.rule))")
        + (violation.isAboutUsers ? violation.remedy.map { "  " + $0 } ?? "" : "")
    }
    let rest = count - shown.count
    return rest > 0 ? shown + ["  and \(Grouped.text(rest)) more"] : shown
  }

  /// How many violations are listed in full.
  static let maxViolationCount = 5

  /// The same error about the file or input at `path`.
  func naming(_ path: String) -> CommandError {
    guard exitCode != .interrupted else { return self }
    var error = self
    error.message = "\(path == "-" ? "standard input" : path): \(message)"
    return error
  }

  /// The same error with a hint that finds the database that was named by `-d`.
  func hinting(database: String?) -> CommandError {
    guard let database, let hint, hint.hasPrefix("storecli "), !hint.contains(" -d "),
      !hint.hasPrefix("storecli help"), !hint.hasPrefix("storecli demo")
    else { return self }
    var error = self
    let end = hint.firstRange(of: " | ")?.lowerBound ?? hint.endIndex
    error.hint = hint[..<end] + " -d \(Shell.quoted(database))" + hint[end...]
    return error
  }

  /// The same error with a hint that is typed in a session, which has the database open.
  var inSession: CommandError {
    guard let hint, hint.hasPrefix("storecli ") else { return self }
    var error = self
    error.hint = String(hint.dropFirst("storecli ".count))
    return error
  }

  /// The error for a name that does not exist, with near misses.
  ///
  /// - Parameter list: The command that lists them.
  static func unknown(
    _ noun: String, _ name: String, among names: [String], code: StoreError.Code, list: String
  ) -> CommandError {
    CommandError(
      .notFound, code: code.rawValue,
      "There is no \(noun) \(name)" + meant(NearMiss.suggestions(for: name, among: names)),
      hint: list)
  }

  /// A question for near misses: `; did you mean a or b?`, or a full stop for none.
  static func meant(_ names: [String]) -> String {
    names.isEmpty ? "." : "; did you mean \(names.joined(separator: " or "))?"
  }
}

extension CommandError {
  /// The error as it is written to standard error, without the last newline. What it quotes cannot
  /// steer a terminal.
  func text(as format: Format, palette: Palette) -> String {
    text(as: format, titled: "error", palette: palette)
  }

  /// The same text as a warning: the command succeeded.
  func warningText(as format: Format, palette: Palette) -> String {
    text(as: format, titled: "warning", palette: palette)
  }

  /// The hint; a command in it has the name of the running program.
  private var shownHint: String? {
    guard let hint, hint.hasPrefix("storecli ") else { return hint }
    return Program.name + hint.dropFirst("storecli".count)
  }

  private func text(as format: Format, titled word: String, palette: Palette) -> String {
    switch format {
    case .text:
      let title = palette.dressed("\(word)[\(code)]:", as: .failure)
      let hints = shownHint.map {
        [palette.dressed("hint:", as: .hint) + " \(CellText.visible($0))"]
      }
      let lines = ["\(title) \(CellText.visible(message))"] + details.map(CellText.visible)
      return (lines + (hints ?? [])).joined(separator: "\n")
    case .json: return jsonText(titled: word)
    }
  }

  private func jsonText(titled word: String) -> String {
    var members: [JSONValue.Member] = [
      .init("code", .string(code)), .init("message", .string(message)),
      .init("model", model.map { .string($0) } ?? .null),
      .init("field", field.map { .string($0) } ?? .null),
      .init("hint", shownHint.map { .string($0) } ?? .null),
    ]
    if !violations.isEmpty {
      members.append(.init("violations", .array(violations.map(Self.json))))
      members.append(.init("violationCount", .integer(Int64(violationCount))))
    }
    var bytes: [UInt8] = []
    do {
      try JSONText.append(.object([.init(word, .object(members))]), to: &bytes)
    } catch {
      // Only a NaN can fail, in a violation's key.
      return "{\"\(word)\":{\"code\":\"\(code)\"}}"
    }
    return String(decoding: bytes, as: UTF8.self)
  }

  private static func json(_ violation: Violation) -> JSONValue {
    .object([
      .init("kind", .string(violation.kind.rawValue)), .init("model", .string(violation.model)),
      .init("id", violation.key.map { KeyText.json($0) } ?? .null),
      .init("fields", .array(violation.fields.map { .string($0) })),
      .init("rule", .string(violation.rule)), .init("message", .string(violation.message)),
      .init("remedy", violation.remedy.map { .string($0) } ?? .null),
      .init("severity", .string(violation.severity.rawValue)),
    ])
  }
}

extension StoreError {
  /// Whether a stored value is larger than the store's limit: SQLITE_TOOBIG, see
  /// <https://sqlite.org/rescode.html#toobig>.
  var isOversized: Bool { code == .invalidValue && sqliteCode == 18 }

  /// Whether the value that is too large was to be written.
  fileprivate var isAboutNewValue: Bool { message.hasPrefix("A new value of ") }

  /// The model and field that the error is about.
  fileprivate var place: String {
    guard let model else { return "The result" }
    return field.map { "\(model).\($0)" } ?? model
  }
}

extension Violation {
  /// Whether other records refer to the record, which is to be deleted. The remedy names them.
  fileprivate var isAboutUsers: Bool { kind == .reference && fields.isEmpty && key != nil }
}

extension ExitCode {
  /// Maps a store's error to an exit status. No other code does.
  init(_ code: StoreError.Code) {
    self =
      switch code {
      case .fileNotFound, .unknownModel, .unknownBinding, .unknownRule, .recordNotFound,
        .unknownTransaction, .unknownConsumer:
        .notFound
      case .rejected, .invalidValue, .conflict, .unknownFunction: .rejected
      case .busy, .shuttingDown: .busy
      case .newerFormat: .newerSchema
      case .unknownField, .invalidQuery: .usage
      case .cancelled: .interrupted
      case .fileExists, .notADatabase, .corrupt, .permissionDenied, .unsafeLocation, .fileReplaced,
        .readOnly, .outOfSpace,
        .ioFailure, .outcomeUnknown, .schemaMismatch, .outdatedModel, .unsupportedSchema,
        .migrationConflict,
        .misuse, .notificationCycle, .forked, .journalTrimmed, .journalGap, .configurationConflict,
        .ledgerUnavailable, .memberBehind, .memberDiverged, .memberOutdated, .ledgerLostCommits,
        .unknownPosition,
        .mirrorUnavailable, .database:
        .failed
      }
  }
}
