/// The error that a store throws: a code to switch on, the model, field and record concerned, and a
/// message that says what to do.
///
/// The message never contains values of records. ``violations`` contains them only if you ask for
/// them. The error is `Codable`, so that you can send it to another program.
public struct StoreError: Error, Hashable, Sendable, Codable {
  /// The kind of failure. The raw value is stable and suitable for logs.
  public enum Code: String, Hashable, Sendable, Codable, CaseIterable {
    /// The file does not exist, and creating it is not allowed.
    case fileNotFound
    /// A file already has the name of a new copy. It was not changed.
    case fileExists
    /// The file is not an SQLite database.
    case notADatabase
    /// The file is damaged. Restore a backup, or salvage with `sqlite3 FILE .recover`.
    case corrupt
    /// The operating system refuses access to the file or its directory.
    case permissionDenied
    /// A store cannot be kept safely at this path: a directory, a network file system, or a place
    /// where other users can replace the file or the files that SQLite creates next to it.
    case unsafeLocation
    /// The file was replaced or removed while the store was open, or the log next to it belongs to
    /// another file. The message says what to do before you open the file again.
    case fileReplaced
    /// The store, file or transaction is read-only.
    case readOnly
    /// Another process kept the file locked for longer than the busy timeout, or another write that
    /// shared the COMMIT made SQLite roll everything back. Nothing was changed; try again.
    case busy
    /// No space left. The transaction was rolled back; free some space, then try again.
    case outOfSpace
    /// Reading or writing failed in the operating system. The transaction was rolled back.
    case ioFailure
    /// COMMIT failed, and it is unknown whether the transaction will be there after you reopen the
    /// store. The store refuses further work until then.
    case outcomeUnknown
    /// The file was written by a newer version of the library. Update this program; nothing was
    /// changed.
    case newerFormat
    /// The file's tables differ from the declared models.
    case schemaMismatch
    /// Another program changed the table of an adopted model. Update the model with
    /// ``Store/refreshAdopted(_:mode:)`` or `storecli adopt --refresh`.
    case outdatedModel
    /// The table cannot become a model, or the declaration cannot be supported. The message gives
    /// the reason.
    case unsupportedSchema
    /// An applied migration was changed or is missing, or a migration was added before an applied
    /// one.
    case migrationConflict
    case unknownModel
    case unknownField
    /// The file has no binding of that name.
    case unknownBinding
    /// A binding in the file calls a Swift function that the store was not given. Write with a
    /// program that has it. See ``StoreConfiguration/functions``.
    case unknownFunction
    /// No rule of that name was added to the file.
    case unknownRule
    /// The file's change journal has no consumer of that name.
    case unknownConsumer
    /// There is no record with that key.
    case recordNotFound
    /// A value does not fit its field.
    case invalidValue
    /// A constraint in the file or a validator rejected the transaction. All violations are listed.
    case rejected
    /// The query, predicate or SQL text is wrong.
    case invalidQuery
    /// The call is not allowed here, such as writing inside a validator or using a closed store.
    case misuse
    /// The store is shutting down and accepts no new write. Nothing was changed. Let another
    /// instance of your service do it, or try again after a restart.
    case shuttingDown
    /// Writes in callbacks triggered each other without end. The last write was rolled back.
    case notificationCycle
    /// The work was cancelled before it finished. Nothing was changed.
    case cancelled
    /// The process forked while the store was open. The child process cannot use the file, except
    /// through another program that it starts.
    case forked
    /// The change journal no longer reaches back that far: its older entries were removed.
    case journalTrimmed
    /// The change journal does not contain the requested changes. It was off for a model at some
    /// time, records only keys of it, or has a malformed row.
    case journalGap
    /// The change journal has no transaction with that id.
    case unknownTransaction
    /// The data changed since the work was prepared, so nothing was changed. Either a transaction
    /// cannot be reverted; the violations then list all records that prevent it. Or a consumer was
    /// moved after its batch was read.
    case conflict
    /// Two stores on one file ask for different configurations.
    case configurationConflict
    /// The ledger of a shared store cannot be reached, or refuses this program.
    case ledgerUnavailable
    /// The shared store has a transaction that could not be written into this member's file yet.
    case memberBehind
    /// A member's file was changed without its ledger, or its schema is another one.
    case memberDiverged
    /// A member's file lacks commits that its ledger no longer keeps, or a change of the schema.
    case memberOutdated
    /// A member has commits that its ledger does not have.
    case ledgerLostCommits
    /// A shared store has no commit with the number of that ``SharedPosition``.
    case unknownPosition
    /// The database of a mirror cannot be reached, or refuses something.
    case mirrorUnavailable
    /// SQLite failed in another way; the message is SQLite's.
    case database
  }

  /// The kind of failure. Decide by the code, not by the message.
  public var code: Code
  /// A full sentence: what happened to which thing, and what to do.
  public var message: String
  /// The model concerned.
  public var model: String?
  /// The field concerned.
  public var field: String?
  /// The key values of the record concerned, in key order.
  public var key: [SQLValue]?
  /// The broken rules in the order in which they were found: rules of the file first, then
  /// validators in the order of ``Validator``. At most
  /// ``StoreConfiguration/Refusals/maxViolationCount``.
  public var violations: [Violation]
  /// The total number of broken rules, including those that are not listed.
  public var violationCount: Int
  /// The transaction whose outcome is unknown, if the change journal can determine it after you
  /// reopen the store. See ``ChangeJournal/outcome(of:)``.
  public var transaction: TransactionID?
  /// SQLite's extended result code, if SQLite reported the error.
  public var sqliteCode: Int32?
  /// The plan that was not applied, because a step is blocked or would lose data; with code
  /// ``Code/schemaMismatch`` and ``StoreConfiguration/SchemaChanges/migrate``.
  public var migrationPlan: MigrationPlan?
  /// How the file's schema differs from the one that its migrations create, one sentence for each
  /// difference; nil unless that is the error.
  package var schemaDifferences: [String]?

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
  /// It is true for ``Code/busy`` alone: another connection held the file locked, or a write that
  /// shared the COMMIT rolled everything back. Repeating the call is safe. Every other error needs
  /// something first: free space, another value, the store opened again. After
  /// ``Code/outcomeUnknown`` the transaction may have been kept, so do not repeat it;
  /// ``Code/cancelled`` is what your program asked for.
  public var isRetryable: Bool { code == .busy }
}

extension StoreError: CustomStringConvertible {
  /// The code, and what ``explanation`` has.
  public var description: String { "\(code.rawValue): \(explanation)" }

  /// The message, and the broken rules that it does not name, on one line. Several records that
  /// break a rule in the same way count once. At most ten reasons are listed.
  package var explanation: String {
    var reasons: [String] = []
    for reason in violations.map(\.summary) where !reasons.contains(reason) {
      guard reasons.count <= Self.maxReasonCount else { break }
      reasons.append(reason)
    }
    // One reason is what the message says.
    guard reasons.count > 1 else { return message }
    let isCut = reasons.count > Self.maxReasonCount || violationCount > violations.count
    let others = reasons.prefix(Self.maxReasonCount).filter { !message.contains($0) }
    let list = others + (isCut ? ["and more"] : [])
    return "\(message) Also: \(list.joined(separator: "; "))."
  }

  private static var maxReasonCount: Int { 10 }
}

extension Violation {
  /// The fields, the requirement and the rule. A conflict breaks no rule of the catalog.
  fileprivate var summary: String {
    let place = fields.isEmpty ? model : "\(model).\(fields.joined(separator: ", "))"
    let subject = place.isEmpty ? "the transaction" : place
    return "\(subject) \(message)" + (kind == .conflict ? "" : " (rule \(rule))")
  }
}

/// One broken rule: the record, the field, the rule, the reason, and the remedy.
public struct Violation: Hashable, Sendable, Codable {
  /// The kind of a rule.
  public enum Kind: String, Hashable, Sendable, Codable, CaseIterable {
    /// A required value is missing.
    case required
    /// Values are not unique.
    case unique
    /// A reference to another record is broken.
    case reference
    /// A condition on one record is not satisfied.
    case check
    /// A value has the wrong type.
    case type
    /// A field was changed that must not change once it is set.
    case immutable
    /// A rule over several records is broken.
    case records
    /// A trigger that does not belong to the store rejected the change.
    case trigger
    /// A Swift validator rejected the change.
    case validator
    /// A gate's condition is not met.
    case gate
    /// A record or field is no longer as a transaction left it.
    case conflict
  }

  /// The effect of breaking a rule.
  public enum Severity: String, Hashable, Sendable, Codable, CaseIterable {
    /// The write is rejected.
    case error
    /// The write is kept. Checks for violations list the record.
    case warning
  }

  /// The kind of the broken rule.
  public var kind: Kind
  /// The model of the record that breaks it.
  public var model: String
  /// The record's key values in key order, or nil when SQLite does not identify the record.
  public var key: [SQLValue]?
  /// The fields that the rule concerns; empty for the whole record.
  public var fields: [String]
  /// The rule's name, as the catalog lists it.
  public var rule: String
  /// The requirement, suitable for a form: "must not be empty".
  public var message: String
  /// A sentence that says what to do; nil when only the application can know.
  public var remedy: String?
  /// Whether the rule rejects the write.
  public var severity: Severity
  /// The values of ``fields`` that break the rule, in that order. Present only if they are known
  /// and ``StoreConfiguration/Refusals/includesValues`` is set.
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
  /// Creates one error for all violations of a write.
  ///
  /// - Parameter count: The total number of violations.
  /// - Precondition: There is at least one violation.
  package init(rejecting violations: [Violation], count: Int) {
    let first = violations[0]
    let more = count > 1 ? " (and \(count - 1) more)" : ""
    self.init(
      .rejected, "Nothing was changed: \(first.summary)\(more).",
      model: first.model.isEmpty ? nil : first.model, field: first.fields.first, key: first.key,
      violations: violations, violationCount: count)
  }
}
