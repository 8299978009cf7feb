/// The one error that a store throws: a code to switch on, what it is about, and a sentence that
/// says what to do. Values of records are in ``violations`` only when asked for, never in the text.
///
/// As ``Codable`` it is the same for a program on the other side of a wire.
public struct StoreError: Error, Hashable, Sendable, Codable {
  /// What went wrong. The raw value is stable and fit for logs.
  public enum Code: String, Hashable, Sendable, Codable, CaseIterable {
    /// The file does not exist and may not be created.
    case fileNotFound
    /// The file is not an SQLite database.
    case notADatabase
    /// The file is damaged. Restore a backup, or salvage with `sqlite3 FILE .recover`.
    case corrupt
    /// The operating system refuses access to the file or its directory.
    case permissionDenied
    /// The path is one where a store cannot be kept safely: a directory, a network file system, a
    /// place where other users can replace the file or what SQLite keeps beside it.
    case unsafeLocation
    /// The file was replaced or removed while the store was open, or the log beside it belongs to
    /// another file. The message says what to do before the file is opened again.
    case fileReplaced
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
    /// Another program changed the table of an adopted model. Bring the model up to date with
    /// ``Store/refreshAdopted(_:mode:)`` or `storecli adopt --refresh`.
    case outdatedModel
    /// The table cannot become a model, or the declaration cannot be kept; the message says why.
    case unsupportedSchema
    /// A migration that was applied has changed since, is missing, or comes too late.
    case migrationConflict
    case unknownModel
    case unknownField
    /// No binding of that name is in the file.
    case unknownBinding
    /// A binding in the file calls a function in Swift that the store was not given: write with a
    /// program that has it. See ``StoreConfiguration/functions``.
    case unknownFunction
    /// No rule of that name was added to the file.
    case unknownRule
    /// No consumer of that name reads the file's change journal.
    case unknownConsumer
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
    /// The change journal does not reach back so far: its older entries were removed.
    case journalTrimmed
    /// The change journal does not tell what is asked: it was off for a model at some time, keeps
    /// only keys of it, or has a row that no store writes.
    case journalGap
    /// The change journal has no transaction of that id.
    case unknownTransaction
    /// What the work rests on has changed since, and nothing of it was kept: a transaction cannot
    /// be taken back, and all records that stand in the way are listed as violations; or a consumer
    /// was moved since its batch was read.
    case conflict
    /// Two stores on one file ask for different configurations.
    case configurationConflict
    /// SQLite failed in another way; the message is SQLite's.
    case database
  }

  /// What kind of failure it is; decide by it, not by the message.
  public var code: Code
  /// A full sentence: what happened to which thing, and what to do.
  public var message: String
  /// The model the error is about.
  public var model: String?
  /// The field the error is about.
  public var field: String?
  /// The record the error is about, as its key values in key order.
  public var key: [SQLValue]?
  /// The rules that were broken, in the order in which they were found: the file's, then
  /// validators as ``Validator`` orders them. At most as many as
  /// ``StoreConfiguration/Refusals/maxViolationCount``.
  public var violations: [Violation]
  /// How many rules were broken in all, those not listed included.
  public var violationCount: Int
  /// The transaction whose outcome is not known, where the change journal can tell it once the
  /// store is opened anew; see ``ChangeJournal/outcome(of:)``.
  public var transaction: TransactionID?
  /// SQLite's extended result code, where SQLite was the one to refuse.
  public var sqliteCode: Int32?

  public init(
    _ code: Code, _ message: String, model: String? = nil, field: String? = nil,
    key: [SQLValue]? = nil, violations: [Violation] = [], violationCount: Int? = nil,
    sqliteCode: Int32? = nil
  ) {
    self.code = code
    self.message = message
    self.model = model
    self.field = field
    self.key = key
    self.violations = violations
    self.violationCount = violationCount ?? violations.count
    self.sqliteCode = sqliteCode
  }
}

extension StoreError {
  /// Whether the same call, made again unchanged, may succeed.
  ///
  /// It is true for ``Code/busy`` alone: another connection held the file locked, and nothing was
  /// done. Every other error needs something first: free space, another value, the store opened
  /// again. After ``Code/outcomeUnknown`` the transaction may have been kept, so do not repeat it;
  /// ``Code/cancelled`` is what your program asked for.
  public var isRetryable: Bool { code == .busy }
}

extension StoreError: CustomStringConvertible {
  public var description: String { "\(code.rawValue): \(message)" }
}

/// One broken rule: which record and field, which rule, why, and what to do.
public struct Violation: Hashable, Sendable, Codable {
  /// What kind of rule was broken.
  public enum Kind: String, Hashable, Sendable, Codable, CaseIterable {
    /// A value that must be there.
    case required
    /// Values that occur once.
    case unique
    /// A reference to another record.
    case reference
    /// A condition over one record.
    case check
    /// The type of a field.
    case type
    /// A field that does not change once it was set.
    case immutable
    /// A rule over several records.
    case records
    /// A trigger that is no rule of the store's.
    case trigger
    /// A rule in Swift.
    case validator
    /// A condition of a gate.
    case gate
    /// A record or field that should still be as a transaction left it.
    case conflict
  }

  /// What breaking the rule means.
  public enum Severity: String, Hashable, Sendable, Codable, CaseIterable {
    /// The write is refused.
    case error
    /// The write is kept; the record is listed by whoever asks for findings.
    case warning
  }

  /// What kind of rule is broken.
  public var kind: Kind
  /// The model whose record breaks it.
  public var model: String
  /// The record's key values in key order, or nil when SQLite does not tell which record it was.
  public var key: [SQLValue]?
  /// The fields the rule is about; empty when it is about the whole record.
  public var fields: [String]
  /// The rule's name, as the catalog lists it.
  public var rule: String
  /// What is wrong, fit for a form: "must not be empty".
  public var message: String
  /// What to do about it, a sentence; nil when only the application knows.
  public var remedy: String?
  /// Whether it refuses the write.
  public var severity: Severity
  /// The values of ``fields`` that break the rule, in that order. Present only where they are
  /// known and asked for: ``StoreConfiguration/Refusals/includesValues``.
  public var values: [SQLValue]?

  package init(
    kind: Kind, model: String, key: [SQLValue]? = nil, fields: [String] = [], rule: String,
    message: String, remedy: String? = nil, severity: Severity = .error, values: [SQLValue]? = nil
  ) {
    self.kind = kind
    self.model = model
    self.key = key
    self.fields = fields
    self.rule = rule
    self.message = message
    self.remedy = remedy
    self.severity = severity
    self.values = values
  }
}

extension StoreError {
  /// One error for all violations of a write.
  ///
  /// - Parameter count: How many there are in all.
  /// - Precondition: There is at least one.
  package init(rejecting violations: [Violation], count: Int) {
    let first = violations[0]
    let place =
      first.fields.isEmpty ? first.model : "\(first.model).\(first.fields.joined(separator: ", "))"
    let more = count > 1 ? " (and \(count - 1) more)" : ""
    self.init(
      .rejected,
      "Nothing was changed: \(place.isEmpty ? "the transaction" : place) \(first.message) (rule \(first.rule))\(more).",
      model: first.model.isEmpty ? nil : first.model, field: first.fields.first, key: first.key,
      violations: violations, violationCount: count)
  }
}
