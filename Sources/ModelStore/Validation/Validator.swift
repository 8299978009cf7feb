/// A rule in Swift that decides whether a transaction may commit. It sees the net change, old and
/// new, and may query; it changes nothing.
///
/// It binds writers that run it: transactions of stores opened with it. Its name stands in the
/// file's catalog, so that other programs know that they cannot check it. For a rule that must
/// hold for every writer, declare a ``FieldRule`` or a ``Rule`` instead.
///
/// Validators run after bindings and before COMMIT, on the writing thread, and only for what the
/// transaction changed: first those of fields, then those of records, then those of whole
/// transactions; within each in the order of declaration. The reads they are lent see the
/// transaction's own writes. One rejects by returning a rejection; it throws only when no judgement
/// is possible, which rolls back too and reaches the caller as it is.
public struct Validator: Sendable {
  /// What it is asked about, in the order in which validators are asked.
  enum Scope: Int {
    case field, record, transaction
  }

  /// Unique in the store.
  package let name: String
  /// The models whose changes it judges.
  package let models: [String]
  let scope: Scope
  /// The fields it reads; nil for whole records.
  let fields: Set<Int>?
  /// Why it cannot be declared, or nil.
  let problem: StoreError?
  private let judge:
    @Sendable ([RecordChange], borrowing ReadTransaction, inout Judgement) throws -> Void

  /// Judges one field of each record in which it changed. A deletion is no change of a field.
  ///
  /// - Parameters:
  ///   - name: Unique in the store: `Track.title.real`. A store that is opened later on the same
  ///     file in this process puts its own validator in the place of one of this name and model.
  ///   - body: Called with the value before, nil for an insertion, and the value after. A rejection
  ///     that names no field is about this one.
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

  /// Judges two fields together, of each record in which one of them changed. A deletion is no
  /// change of a field. Nothing else of the record is looked at, which makes it cheaper than a
  /// validator of records.
  ///
  /// - Parameters:
  ///   - name: Unique in the store: `Track.length.real`, as for one field's validator.
  ///   - body: Called with the values before, nil for an insertion, and the values after, both in
  ///     the order of the fields. A rejection that names no field is about both.
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
          "The validator \(name) names a field that is no stored field of \(schema.name).",
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

  /// Judges each changed record of a model by itself.
  ///
  /// - Parameters:
  ///   - name: Unique in the store: `Track.notLongerThanAlbum`, as for a field's validator.
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

  /// Judges all changed records of a model together.
  ///
  /// - Parameters:
  ///   - name: Unique in the store: `Playlist.positions`, as for a field's validator.
  ///   - body: Called once, with the changes in the order in which records were first touched. To
  ///     say which record a rejection is about, give it the record's key.
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

  /// Judges a transaction that changes records of any of `models` as a whole, after every validator
  /// of fields and records.
  ///
  /// - Parameters:
  ///   - name: Unique in the store: `Ledger.balanced`, as for a field's validator.
  ///   - models: At least one. Changes of others are not among those that `body` is given.
  ///   - body: Called once. It returns what is wrong; nothing when all is well.
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
        ? StoreError(.misuse, "The validator \(name) names no model, so it would never be asked.")
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

  /// Adds to `judgement` what is wrong with `changes`.
  func judge(
    _ changes: [RecordChange], _ reads: borrowing ReadTransaction, _ judgement: inout Judgement
  ) throws {
    try judge(changes, reads, &judgement)
  }
}

/// What a validator says of a change of a model's records.
public struct ValidationResult<M: Model>: Sendable {
  /// One thing that is wrong.
  struct Part: Sendable {
    var message: String
    var remedy: String?
    /// The record, where the validator judges several.
    var key: M.Key?
    var fields: [Int]
  }

  let parts: [Part]
  /// Why it cannot be told, or nil.
  var problem: StoreError?

  /// The change may commit.
  public static var accept: ValidationResult { ValidationResult(parts: []) }

  /// The change may not commit.
  ///
  /// - Parameters:
  ///   - message: What is wrong, to follow the field's name: "must not be after the due date".
  ///   - fields: The fields it is about; none for the whole record. With one that is no stored
  ///     field the write throws ``StoreError`` with code `unknownField`.
  ///   - remedy: What to do about it, a sentence.
  ///   - key: The record it is about, where several are judged together.
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
          "A validator rejects “\(message)” by a field that is no stored field of \(M.schema.name).",
          model: M.schema.name))
    }
    return ValidationResult(parts: [part])
  }

  /// Both verdicts together: every rejection of either.
  public func and(_ other: ValidationResult) -> ValidationResult {
    ValidationResult(parts: parts + other.parts, problem: problem ?? other.problem)
  }
}

/// What a validator of whole transactions finds wrong.
public struct Rejection: Sendable {
  let message: String
  let remedy: String?
  let change: RecordChange?
  let fields: [String]

  /// - Parameters:
  ///   - message: What is wrong: "must add up to zero".
  ///   - change: The record it is about; nil for the transaction.
  ///   - fields: The names of the fields it is about.
  ///   - remedy: What to do about it, a sentence.
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
