#if canImport(Glibc)
  internal import Glibc
#else
  internal import Darwin
#endif

/// The one error that a store throws: a code to switch on, what it is about, and a sentence that
/// says what to do. Values of records are in ``violations`` only when asked for, never in the text.
public struct StoreError: Error, Sendable {
  /// What went wrong. The raw value is stable and fit for logs.
  public enum Code: String, Hashable, Sendable, CaseIterable {
    /// The file does not exist and may not be created.
    case fileNotFound
    /// The file is not an SQLite database.
    case notADatabase
    /// The file is damaged. Restore a backup, or salvage with `sqlite3 FILE .recover`.
    case corrupt
    /// The operating system refuses access to the file or its directory.
    case permissionDenied
    /// The path is one where a store cannot be kept safely: a directory, a symbolic link, a network
    /// file system.
    case unsafeLocation
    /// The store, file or transaction is read-only.
    case readOnly
    /// Another process kept the file locked for longer than the busy timeout. Nothing was done; try
    /// again.
    case busy
    /// No space left. Nothing of the transaction was kept; free space, then try again.
    case outOfSpace
    /// Reading or writing failed in the operating system. Nothing of the transaction was kept.
    case ioFailure
    /// COMMIT failed in a way that leaves open whether the transaction will be there after the
    /// store is opened anew. The store refuses further work until then.
    case outcomeUnknown
    /// The file was written by a newer library. Update this program; nothing was changed.
    case newerFormat
    /// The file's tables differ from the declared models.
    case schemaMismatch
    /// The table cannot become a model, or the declaration cannot be kept; the message says why.
    case unsupportedSchema
    /// A migration that was applied has changed since, is missing, or comes too late.
    case migrationConflict
    case unknownModel
    case unknownField
    case unknownBinding
    /// No record has that key.
    case recordNotFound
    /// A value does not fit its field.
    case invalidValue
    /// A rule refused the transaction: a constraint in the file or a validator. All violations are
    /// listed.
    case rejected
    /// The query, predicate or SQL text is wrong.
    case invalidQuery
    /// The call is not allowed here: writing inside a validator, using a closed store.
    case misuse
    /// Writes made by callbacks answered each other without end. Nothing of the last one was kept.
    case notificationCycle
    /// The work was cancelled before it finished. Nothing of it was kept.
    case cancelled
    /// The process forked while the store was open. The file cannot be used in the child, except by
    /// a program of its own that the child starts.
    case forked
    /// Two stores on one file ask for different configurations.
    case configurationConflict
    /// SQLite failed in another way; the message is SQLite's.
    case database
  }

  public var code: Code
  /// A full sentence: what happened to which thing, and what to do.
  public var message: String
  /// The model the error is about.
  public var model: String?
  /// The field the error is about.
  public var field: String?
  /// The record the error is about, as its key values in key order.
  public var key: [SQLValue]?
  /// Every rule that was broken, in the order: the file's constraint, then validators as declared.
  public var violations: [Violation]
  /// SQLite's extended result code, where SQLite was the one to refuse.
  public var sqliteCode: Int32?

  public init(
    _ code: Code, _ message: String, model: String? = nil, field: String? = nil,
    key: [SQLValue]? = nil, violations: [Violation] = [], sqliteCode: Int32? = nil
  ) {
    self.code = code
    self.message = message
    self.model = model
    self.field = field
    self.key = key
    self.violations = violations
    self.sqliteCode = sqliteCode
  }
}

extension StoreError {
  /// Writes the error as one line to standard error: what a store does with failures that no
  /// caller can be told about, unless it is opened with another `onError`.
  @Sendable public static func writeToStandardError(_ error: StoreError) {
    let line = "ModelStore: \(error)\n"
    // A failed write to standard error leaves nobody to tell.
    _ = line.withCString { write(STDERR_FILENO, $0, strlen($0)) }
  }
}

extension StoreError: CustomStringConvertible {
  public var description: String { "\(code.rawValue): \(message)" }
}

/// One broken rule: which record and field, which rule, and why.
public struct Violation: Hashable, Sendable {
  /// What kind of rule was broken.
  public enum Kind: String, Hashable, Sendable {
    case required, unique, reference, check, type, trigger, validator
  }

  public var kind: Kind
  public var model: String
  /// The record's key values in key order, or nil when SQLite does not tell which record it was.
  public var key: [SQLValue]?
  /// The fields the rule is about; empty when it is about the whole record.
  public var fields: [String]
  /// The rule's name, as the catalog lists it.
  public var rule: String
  /// What is wrong, fit for a form: "must not be empty".
  public var message: String

  public init(
    kind: Kind, model: String, key: [SQLValue]? = nil, fields: [String] = [], rule: String,
    message: String
  ) {
    self.kind = kind
    self.model = model
    self.key = key
    self.fields = fields
    self.rule = rule
    self.message = message
  }
}
