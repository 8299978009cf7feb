/// A Swift function that decides whether a transaction may commit.
///
/// It receives the net change with old and new values. It can run queries but cannot change
/// anything. For example, it can require that the entries of a ledger add up to zero.
///
/// A validator applies to transactions of stores that were opened with it. Its name is recorded in
/// the file's catalog, so other programs know that they cannot check it. For a rule that must hold
/// for every writer, declare a ``FieldRule`` or a ``Rule`` instead.
///
/// Validators run after bindings and before COMMIT, on the writing thread, and only for records
/// that the transaction changed. Field validators run first, then record validators, then
/// transaction validators, each group in the order of declaration. Their reads see the
/// transaction's own writes.
///
/// To reject a transaction, return a rejection. Throw only if the validator cannot decide: this
/// also rolls back, and the caller receives the error unchanged.
public struct Validator: Sendable {
  /// What the validator checks, in the order in which validators run.
  enum Scope: Int {
    case field, record, transaction
  }

  /// Unique in the store.
  package let name: String
  /// The models whose changes it checks.
  package let models: [String]
  let scope: Scope
  /// The fields it reads; nil for whole records.
  let fields: Set<Int>?
  /// The reason why it cannot be declared, or nil.
  let problem: StoreError?
  private let judge:
    @Sendable ([RecordChange], borrowing ReadTransaction, inout Judgement) throws -> Void

  /// Creates a validator for one field. It runs for each record in which the field changed, but not
  /// for deleted records.
  ///
  /// - Parameters:
  ///   - name: Unique in the store, such as `Track.title.real`. If this process later opens another
  ///     store on the file, that store's validator replaces one of the same name and model.
  ///   - body: Receives the old value, nil for an insertion, and the new value. A rejection without
  ///     fields refers to this field.
  public init<M: Model, Value: ColumnValue>(
    _ name: String, _ field: any KeyPath<M, Value> & Sendable,
    _ body:
      @escaping @Sendable (_ old: Value?, _ new: Value, borrowing ReadTransaction) throws ->
      ValidationResult<M>
  ) {
    let index = M.definition.fieldIndex(of: field)
    let schema = M.schema
    self.init(
      name, [schema], .field, fields: index.map { [$0] } ?? [],
      problem: index == nil
        ? StoreError(
          .unknownField,
          "The validator \(name): \(M.definition.notStored(field))",
          model: schema.name) : nil
    ) { changes, reads, judgement in
      guard let index else { return }
      for change in changes where change.model == schema.name {
        guard let new = change.new, new[index] != change.old?[index] else { continue }
        try judgement.checkNotCancelled()
        let verdict = try body(
          try change.old.map { try Self.decoded(Value.self, $0, index, schema) },
          try Self.decoded(Value.self, new, index, schema), reads)
        try judgement.add(verdict, of: name, on: change, fields: [index])
        if judgement.isSettled { return }
      }
    }
  }

  /// Creates a validator for two fields together. It runs for each record in which one of them
  /// changed, but not for deleted records. It reads no other fields, so it is faster than a record
  /// validator.
  ///
  /// - Parameters:
  ///   - name: Unique in the store, such as `Track.length.real`; see the validator for one field.
  ///   - body: Receives the old values, nil for an insertion, and the new values, both in the order
  ///     of the fields. A rejection without fields refers to both.
  public init<M: Model, First: ColumnValue, Second: ColumnValue>(
    _ name: String, _ first: any KeyPath<M, First> & Sendable,
    _ second: any KeyPath<M, Second> & Sendable,
    _ body:
      @escaping @Sendable (
        _ old: (First, Second)?, _ new: (First, Second), borrowing ReadTransaction
      ) throws -> ValidationResult<M>
  ) {
    let schema = M.schema
    let fields = [M.definition.fieldIndex(of: first), M.definition.fieldIndex(of: second)]
    let indices = fields.compactMap(\.self)
    @Sendable func values(_ image: [SQLValue]) throws -> (First, Second) {
      (
        try Self.decoded(First.self, image, indices[0], schema),
        try Self.decoded(Second.self, image, indices[1], schema)
      )
    }
    self.init(
      name, [schema], .field, fields: Set(indices),
      problem: indices.count == fields.count
        ? nil
        : StoreError(
          .unknownField,
          "The validator \(name) names a field that is not stored in \(schema.name).",
          model: schema.name)
    ) { changes, reads, judgement in
      for change in changes where change.model == schema.name {
        guard let new = change.new,
          change.old.map({ old in indices.contains { new[$0] != old[$0] } }) ?? true
        else { continue }
        try judgement.checkNotCancelled()
        let verdict = try body(try change.old.map(values), try values(new), reads)
        try judgement.add(verdict, of: name, on: change, fields: indices)
        if judgement.isSettled { return }
      }
    }
  }

  /// Creates a validator that checks each changed record of a model by itself.
  ///
  /// - Parameters:
  ///   - name: Unique in the store, such as `Track.notLongerThanAlbum`; see the validator for one
  ///     field.
  ///   - body: Called once for each changed record, in the order in which they were first touched.
  public init<M: Model>(
    _ name: String, _ model: M.Type,
    _ body:
      @escaping @Sendable (ModelChange<M>, borrowing ReadTransaction) throws -> ValidationResult<M>
  ) {
    let schema = M.schema
    self.init(name, [schema], .record) { changes, reads, judgement in
      for change in changes where change.model == schema.name {
        try judgement.checkNotCancelled()
        try judgement.add(try body(try ModelChange<M>(change), reads), of: name, on: change)
        if judgement.isSettled { return }
      }
    }
  }

  /// Creates a validator that checks all changed records of a model together.
  ///
  /// - Parameters:
  ///   - name: Unique in the store, such as `Playlist.positions`; see the validator for one field.
  ///   - body: Called once, with the changes in the order in which records were first touched. Pass
  ///     a rejection the key of the record it refers to.
  public init<M: Model>(
    _ name: String, together model: M.Type,
    _ body:
      @escaping @Sendable ([ModelChange<M>], borrowing ReadTransaction) throws -> ValidationResult<
        M
      >
  ) {
    let schema = M.schema
    self.init(name, [schema], .record) { changes, reads, judgement in
      let own = changes.filter { $0.model == schema.name }
      guard !own.isEmpty else { return }
      try judgement.checkNotCancelled()
      try judgement.add(
        try body(try own.map { try ModelChange<M>($0) }, reads), of: name, among: own)
    }
  }

  /// Creates a validator that checks a whole transaction, after all field and record validators. It
  /// runs if the transaction changes a record of one of `models`.
  ///
  /// - Parameters:
  ///   - name: Unique in the store, such as `Ledger.balanced`; see the validator for one field.
  ///   - models: At least one model. `body` receives only changes of these models.
  ///   - body: Called once. Returns the violations; an empty array accepts the transaction.
  public init(
    _ name: String, over models: any Model.Type...,
    body: @escaping @Sendable (ChangeSet, borrowing ReadTransaction) throws -> [Rejection]
  ) {
    self.init(name, over: models, body: body)
  }

  /// Judges a transaction that changes records of any of `models`, given as an array.
  public init(
    _ name: String, over models: [any Model.Type],
    body: @escaping @Sendable (ChangeSet, borrowing ReadTransaction) throws -> [Rejection]
  ) {
    let names = Set(models.map { $0.schema.name })
    self.init(
      name, models.map { $0.schema }, .transaction,
      problem: models.isEmpty
        ? StoreError(.misuse, "The validator \(name) names no model, so it would never run.")
        : nil
    ) { changes, reads, judgement in
      let own = changes.filter { names.contains($0.model) }
      guard !own.isEmpty else { return }
      try judgement.checkNotCancelled()
      for rejection in try body(ChangeSet(version: 0, changes: own), reads) {
        judgement.add(rejection, of: name)
      }
    }
  }

  private init(
    _ name: String, _ schemas: [ModelSchema], _ scope: Scope, fields: Set<Int>? = nil,
    problem: StoreError? = nil,
    judge:
      @escaping @Sendable ([RecordChange], borrowing ReadTransaction, inout Judgement) throws ->
      Void
  ) {
    self.name = name
    models = schemas.map(\.name)
    self.scope = scope
    self.fields = fields
    self.problem = problem
    self.judge = judge
  }

  private static func decoded<Value: ColumnValue>(
    _ type: Value.Type, _ image: [SQLValue], _ index: Int, _ schema: ModelSchema
  ) throws -> Value {
    do {
      return try RowView(image: image).decode(at: index)
    } catch {
      throw StoreError(error, reading: schema)
    }
  }

  /// Checks `changes` and adds violations to `judgement`.
  func judge(
    _ changes: [RecordChange], _ reads: borrowing ReadTransaction, _ judgement: inout Judgement
  ) throws {
    try judge(changes, reads, &judgement)
  }
}

/// The result of a validator for changes of a model's records.
public struct ValidationResult<M: Model>: Sendable {
  /// One violation.
  struct Part: Sendable {
    var message: String
    var remedy: String?
    /// The record, if the validator checks several.
    var key: M.Key?
    var fields: [Int]
  }

  let parts: [Part]
  /// The error in the result itself, or nil.
  var problem: StoreError?

  /// Accepts the change.
  public static var accept: ValidationResult { ValidationResult(parts: []) }

  /// Rejects the change.
  ///
  /// - Parameters:
  ///   - message: The requirement, worded to follow the field's name: "must not be after the due
  ///     date".
  ///   - fields: The fields concerned; none for the whole record. If a field is not stored, the
  ///     write throws ``StoreError`` with code `unknownField`.
  ///   - remedy: A sentence that says what to do.
  ///   - key: The record concerned, if several are checked together.
  public static func reject(
    _ message: String, _ fields: any PartialKeyPath<M> & Sendable..., remedy: String? = nil,
    key: M.Key? = nil
  ) -> ValidationResult {
    let indices = fields.compactMap { M.definition.fieldIndex(of: $0) }
    let part = Part(message: message, remedy: remedy, key: key, fields: indices)
    guard indices.count == fields.count else {
      return ValidationResult(
        parts: [part],
        problem: StoreError(
          .unknownField,
          "A validator rejects “\(message)” for a field that is not stored in \(M.schema.name).",
          model: M.schema.name))
    }
    return ValidationResult(parts: [part])
  }

  /// Combines both results: every rejection of either.
  public func and(_ other: ValidationResult) -> ValidationResult {
    ValidationResult(parts: parts + other.parts, problem: problem ?? other.problem)
  }
}

/// A violation found by a transaction validator.
public struct Rejection: Sendable {
  let message: String
  let remedy: String?
  let change: RecordChange?
  let fields: [String]

  /// - Parameters:
  ///   - message: The requirement: "must add up to zero".
  ///   - change: The record concerned; nil for the whole transaction.
  ///   - fields: The names of the fields concerned.
  ///   - remedy: A sentence that says what to do.
  public init(
    _ message: String, on change: RecordChange? = nil, fields: [String] = [],
    remedy: String? = nil
  ) {
    self.message = message
    self.remedy = remedy
    self.change = change
    self.fields = fields
  }
}
