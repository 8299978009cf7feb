import ModelStore

/// The part of `import --replace` that deletes the records which the input does not have, at the
/// end of its transaction.
struct Mirroring {
  /// What the end of a transaction deleted.
  struct Deletions {
    var count = 0
    /// The records that references deleted in turn, by the name of their model.
    var cascaded: [(model: String, count: Int)] = []
  }

  private var kept: [(schema: ModelSchema, records: KeptRecords)] = []
  private let models: [ModelSchema]

  /// - Parameter models: All models of the store, for what references delete.
  init(
    of schemas: [ModelSchema], among models: [ModelSchema],
    _ transaction: borrowing WriteTransaction
  ) throws {
    self.models = models
    for schema in schemas where !kept.contains(where: { $0.schema.name == schema.name }) {
      kept.append((schema, try transaction.beginKeeping(schema)))
    }
  }

  /// Notes that the input has the record.
  func keep(_ record: DynamicRecord, _ transaction: borrowing WriteTransaction) throws {
    guard let kept = kept.first(where: { $0.schema.name == record.schema.name }) else { return }
    try transaction.keep(record.key, in: kept.records)
  }

  /// Deletes all other records; the models that the input names last come first, because they may
  /// refer to those before them.
  func deleteOthers(_ transaction: borrowing WriteTransaction) throws -> Deletions {
    var deletions = Deletions()
    let reached = cascadeTargets
    let before = try reached.map { try transaction.count(StoreQuery<DynamicRecord>($0)) }
    for (_, records) in kept.reversed() {
      deletions.count += try transaction.deleteOthers(than: records)
    }
    for (schema, records) in kept {
      let lostCount = try transaction.endKeeping(records)
      guard lostCount <= 0 else { throw Self.losing(lostCount, of: schema) }
    }
    for (model, count) in zip(reached, before) {
      let gone = count - (try transaction.count(StoreQuery<DynamicRecord>(model)))
      if gone > 0 { deletions.cascaded.append((model.name, gone)) }
    }
    return deletions
  }

  private static func losing(_ count: Int, of schema: ModelSchema) -> CommandError {
    CommandError(
      .rejected, code: StoreError.Code.rejected.rawValue,
      "\(Grouped.text(count, "\(schema.name) record")) of the input would be deleted with records "
        + "that it does not have, because they refer to them.",
      hint: "add the missing records to the input, or use --upsert", model: schema.name)
  }

  /// The models that are not in the input, and whose records a deletion may delete.
  private var cascadeTargets: [ModelSchema] {
    var tables = Set(kept.map { $0.schema.table.lowercased() })
    let own = tables
    var grows = true
    while grows {
      let found = models.filter { model in
        !tables.contains(model.table.lowercased())
          && model.fields.contains { field in
            field.reference.map {
              $0.onDelete == .cascade && tables.contains($0.table.lowercased())
            } ?? false
          }
      }
      grows = !found.isEmpty
      tables.formUnion(found.map { $0.table.lowercased() })
    }
    return models.filter {
      tables.contains($0.table.lowercased()) && !own.contains($0.table.lowercased())
    }
  }
}
