/// The violations that validators have found in a transaction so far.
struct Judgement {
  private let options: StoreConfiguration.Refusals
  private let models: StoreSchema
  private let connection: Connection
  private var violations: [Violation] = []
  private var count = 0

  init(options: StoreConfiguration.Refusals, models: StoreSchema, connection: Connection) {
    self.options = options
    self.models = models
    self.connection = connection
  }

  /// Whether no further validators need to run.
  var isSettled: Bool { options.stopsAtFirst && count > 0 }

  /// The error that rejects the transaction, or nil.
  var error: StoreError? {
    violations.isEmpty ? nil : StoreError(rejecting: violations, count: count)
  }

  /// - Throws: ``StoreError`` with code `cancelled` when the writing task was cancelled.
  func checkNotCancelled() throws(StoreError) {
    try StatementRunner.checkNotCancelled(connection)
  }

  /// Adds the result of a validator for a single record.
  ///
  /// - Parameter own: The fields to report if the result names none.
  /// - Throws: ``StoreError`` with code `unknownField` when the result names a field that is not
  ///   stored.
  mutating func add<M>(
    _ verdict: ValidationResult<M>, of validator: String, on change: RecordChange,
    fields own: [Int] = []
  ) throws {
    if let problem = verdict.problem { throw problem }
    for part in verdict.parts {
      let fields = part.fields.isEmpty ? own : part.fields
      add(part.violation(of: validator, about: fields), on: change.key, fields) {
        change.new ?? change.old
      }
    }
  }

  /// Adds the result of a validator for several records of a model.
  ///
  /// - Throws: As for a single record; also when a key cannot be stored.
  mutating func add<M>(
    _ verdict: ValidationResult<M>, of validator: String, among changes: [RecordChange]
  ) throws {
    if let problem = verdict.problem { throw problem }
    for part in verdict.parts {
      let key = try part.key.map(WriteTransaction.values)
      add(part.violation(of: validator, about: part.fields), on: key, part.fields) {
        let record = key.map { RecordKey($0) }
        return changes.first { $0.recordKey == record }.flatMap { $0.new ?? $0.old }
      }
    }
  }

  /// Adds the result of a validator for the whole transaction.
  mutating func add(_ rejection: Rejection, of validator: String) {
    guard makeRoom() else { return }
    let change = rejection.change
    violations.append(
      Violation(
        kind: .validator, model: change?.model ?? "", key: change?.key, fields: rejection.fields,
        rule: validator, message: rejection.message, remedy: rejection.remedy,
        values: change.flatMap { values(of: rejection.fields, in: $0) }))
  }

  /// - Parameter image: The record, if it is known.
  private mutating func add(
    _ violation: @autoclosure () -> Violation, on key: [SQLValue]?, _ fields: [Int],
    image: () -> [SQLValue]?
  ) {
    guard makeRoom() else { return }
    var violation = violation()
    violation.key = key
    if options.includesValues {
      violation.values = image().map { image in fields.map { image[$0] } }
    }
    violations.append(violation)
  }

  /// Counts one more violation.
  ///
  /// - Returns: Whether the violation is to be listed.
  private mutating func makeRoom() -> Bool {
    guard !isSettled else { return false }
    count += 1
    return violations.count < max(1, options.maxViolationCount)
  }

  private func values(of fields: [String], in change: RecordChange) -> [SQLValue]? {
    guard options.includesValues, let image = change.new ?? change.old,
      let schema = models.models.first(where: { $0.name == change.model })
    else { return nil }
    return fields.compactMap { schema.fieldIndex(named: $0).map { image[$0] } }
  }
}

extension ValidationResult.Part {
  /// The violation, without the record's key.
  fileprivate func violation(of validator: String, about fields: [Int]) -> Violation {
    Violation(
      kind: .validator, model: M.schema.name, fields: fields.map { M.schema.fields[$0].name },
      rule: validator, message: message, remedy: remedy)
  }
}
