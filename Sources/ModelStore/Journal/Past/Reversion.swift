/// Undoes entries of the change journal inside a write transaction. It deletes inserted records,
/// restores deleted records, and sets fields to their earlier values.
///
/// `Reversion+WayBack.swift` contains the ways to restore the records.
struct Reversion {
  struct Identity: Hashable {
    let model: String
    let key: [SQLValue]
  }

  /// The net change of one record. It contains the known values by field, without the key; nil if
  /// there is no record.
  struct Net {
    var old: [Int: SQLValue]?
    var new: [Int: SQLValue]?
    /// Whether the record was deleted for a while.
    var isRecreated = false

    var isNothing: Bool {
      guard let old, let new else { return old == nil && new == nil }
      return old.allSatisfy { new[$0.key]?.isExactly($0.value) ?? false }
    }

    /// The fields that differ, of a record that exists before and after.
    var differing: [Int] {
      guard let old, let new else { return [] }
      return old.filter { !(new[$0.key]?.isExactly($0.value) ?? false) }.keys.sorted()
    }

    /// The fields that undoing the entries sets in between, of a record that exists after them.
    /// They must be as the entries left them.
    var touched: [Int] {
      guard let old, !isRecreated else { return new?.keys.sorted() ?? [] }
      return new == nil ? old.keys.sorted() : differing
    }
  }

  let layouts: JournalLayouts
  let schemas: [String: ModelSchema]
  /// The fields that bindings update, by model.
  let boundFields: [String: Set<String>]
  /// The models whose tables have columns that are not fields, so that entries lack them.
  let partlyKnown: Set<String>
  /// The models that are the target of a foreign key with an action on deletion.
  let referencedModels: Set<String>
  private let refusals: StoreConfiguration.Refusals
  /// What a conflict advises.
  var remedy = "Undo the later changes first, or change the record by hand."
  /// The records with a net change, ordered by their first entry.
  var order: [Identity] = []
  /// The net changes, including those of records without a difference.
  var nets: [Identity: Net] = [:]
  /// All entries, oldest first.
  private(set) var records: [LoggedRecord] = []
  /// For each layout that occurs, the index of its fields in the current model.
  private(set) var places: [Int64: [Int?]] = [:]

  /// Creates a reversion without entries.
  init(
    layouts: JournalLayouts, models: StoreSchema, bindings: [BindingSchema], catalog: Catalog,
    refusals: StoreConfiguration.Refusals
  ) {
    self.layouts = layouts
    partlyKnown = Set(
      models.models.filter { catalog.table(named: $0.table)?.hasColumns(beside: $0) ?? false }
        .map(\.name))
    boundFields = Dictionary(grouping: bindings.map(\.target), by: \.model)
      .mapValues { Set($0.map(\.field)) }
    let referenced = Set(
      catalog.tables.flatMap(\.foreignKeys).filter { $0.onDelete != .noAction }
        .map { ExactText($0.table.asciiFolded) })
    referencedModels = Set(
      models.models.filter { referenced.contains(ExactText($0.table.asciiFolded)) }.map(\.name))
    self.refusals = refusals
    schemas = Dictionary(models.models.map { ($0.name, $0) }) { first, _ in first }
  }

  /// Adds entries to undo.
  ///
  /// - Parameter entries: The complete, consecutive entries of whole transactions, oldest first.
  /// - Throws: ``StoreError`` with code `journalGap` if they lack changes.
  /// - Precondition: Called once.
  mutating func add(_ entries: [JournalEntry]) throws {
    try collect(entries)
    // If the reversion itself were not recorded in full, it could not be undone. The transaction
    // would count as undone all the same.
    if let model = order.first(where: { layouts.layout(of: $0.model)?.detail != .full })?.model {
      throw Self.gap(
        model,
        "is disabled or records keys only, so this could not be undone in turn; enable it in full first"
      )
    }
  }

  /// Adds entries to find their net changes; see ``add(_:)-([JournalEntry])``.
  mutating func collect(_ entries: [JournalEntry]) throws {
    var gaps: Set<String> = []
    for entry in entries {
      switch entry.content {
      case .record(let record): try add(record)
      case .started(let layout), .began(let layout), .stopped(let layout):
        if let model = layouts.all[layout]?.model { gaps.insert(model) }
      case .transaction: break
      }
    }
    if let model = order.first(where: { gaps.contains($0.model) })?.model {
      throw Self.gap(model, "was disabled for a while in between")
    }
    let nets = nets
    order.removeAll { nets[$0]?.isNothing ?? true }
  }

  /// Whether there is nothing to undo.
  var isEmpty: Bool { order.isEmpty }

  // The net changes of the entries

  private mutating func add(_ record: LoggedRecord) throws {
    let (layout, schema) = try checked(record)
    let identity = Identity(model: layout.model, key: record.key)
    let places = self.places[record.layout] ?? layout.places(in: schema)
    self.places[record.layout] = places
    if nets[identity] == nil { order.append(identity) }
    var net = nets[identity] ?? Net(before: record)
    guard net.add(record, places) else { throw Self.gap(layout.model, "has missed changes") }
    nets[identity] = net
    records.append(record)
  }

  /// - Throws: ``StoreError`` with code `journalGap` if the entry does not contain all of its
  ///   change.
  private func checked(
    _ record: LoggedRecord
  ) throws -> (layout: JournalLayout, schema: ModelSchema) {
    guard let layout = layouts.all[record.layout], let schema = schemas[layout.model] else {
      throw Self.gap(layouts.all[record.layout]?.model ?? "", "has entries of a removed model")
    }
    guard layout.detail == .full else { throw Self.gap(layout.model, "recorded keys only") }
    guard record.malformedTexts.isEmpty else {
      throw Self.gap(layout.model, "contains a text that is not UTF-8, which a store cannot write")
    }
    if record.kind == .delete, partlyKnown.contains(layout.model) {
      throw Self.gap(
        layout.model,
        "does not contain all columns of a deleted record, because some are not fields")
    }
    return (layout, schema)
  }

  /// Rejects unrequested changes, for example by a cascade that would delete later records.
  /// Bindings and triggers may make their own changes.
  ///
  /// - Parameters:
  ///   - changes: The net changes of the transaction.
  ///   - reversions: The reversions that the transaction applied, in order.
  static func judge(_ changes: [RecordChange], of reversions: [Reversion]) throws {
    guard let first = reversions.first else { return }
    let conflicts = changes.compactMap { change -> Violation? in
      guard let schema = first.schemas[change.model] else { return nil }
      let identity = Identity(model: change.model, key: change.key)
      let nets = reversions.compactMap { $0.nets[identity] }.filter { !$0.isNothing }
      guard !nets.isEmpty else {
        return change.origin.isTriggered
          ? nil
          : first.conflict(schema, change.key, [], "would be \(verb(change.operation)) as well")
      }
      // A record that was deleted in between is restored with all of its fields.
      guard nets.count == 1 || nets.allSatisfy({ $0.old != nil && $0.new != nil }) else {
        return nil
      }
      let wanted = Set(nets.flatMap(\.differing).map { schema.fields[$0].name })
      let others = change.fields.filter { !wanted.contains($0.name) && !$0.origin.isTriggered }
        .compactMap { schema.fieldIndex(named: $0.name) }
        .filter { schema.fields[$0].generated == nil }
      return others.isEmpty
        ? nil : first.conflict(schema, change.key, others, "would be changed as well")
    }
    if !conflicts.isEmpty { throw first.refusal(conflicts) }
  }

  private static func verb(_ operation: RecordChange.Operation) -> String {
    switch operation {
    case .insert: "inserted"
    case .update: "changed"
    case .delete: "deleted"
    }
  }

  // Refusals

  func conflict(
    _ schema: ModelSchema, _ key: [SQLValue], _ fields: [Int], _ message: String,
    values: [SQLValue]? = nil
  ) -> Violation {
    Violation(
      kind: .conflict, model: schema.name, key: key, fields: fields.map { schema.fields[$0].name },
      rule: "unchanged", message: message,
      remedy: remedy,
      values: refusals.includesValues ? values : nil)
  }

  func refusal(_ conflicts: [Violation]) -> StoreError {
    var error = StoreError(
      rejecting: Array(conflicts.prefix(max(1, refusals.maxViolationCount))),
      count: conflicts.count)
    error.code = .conflict
    return error
  }

  private static func gap(_ model: String, _ reason: String) -> StoreError {
    StoreError(
      .journalGap,
      "The transaction cannot be undone: the change journal of \(model) \(reason). Nothing was changed.",
      model: model)
  }
}

extension Reversion.Net {
  /// Creates the known values before the first entry of a record.
  fileprivate init(before record: LoggedRecord) {
    let values: [Int: SQLValue]? = record.kind == .insert ? nil : [:]
    self.init(old: values, new: values)
  }

  /// Applies an entry.
  ///
  /// - Parameter places: The indices of the entry's fields in the current model.
  /// - Returns: Whether the entry continues the earlier entries.
  fileprivate mutating func add(_ record: LoggedRecord, _ places: [Int?]) -> Bool {
    guard (record.kind == .insert) == (new == nil) else { return false }
    switch record.kind {
    case .insert:
      new = Self.image(of: record, places)
      isRecreated = old != nil
    case .delete:
      // A value that the entries did not contain so far is the value before them.
      if let new {
        let untold = Self.image(of: record, places).filter { new[$0.key] == nil }
        old?.merge(untold) { old, _ in old }
      }
      new = nil
    case .update:
      for change in record.changes {
        guard let place = places[change.place] else { continue }
        if new?[place] == nil { old?[place] = change.old }
        guard new?[place] ?? change.old == change.old else { return false }
        new?[place] = change.new
      }
    }
    return true
  }

  private static func image(of record: LoggedRecord, _ places: [Int?]) -> [Int: SQLValue] {
    var image: [Int: SQLValue] = [:]
    for (place, value) in zip(places, record.image) {
      if let place { image[place] = value }
    }
    return image
  }
}

extension TableFacts {
  /// Whether the table has stored columns that are not fields of `schema`.
  fileprivate func hasColumns(beside schema: ModelSchema) -> Bool {
    let known = Set(schema.fields.map { ExactText($0.column.asciiFolded) })
    return columns.contains {
      $0.generated == nil && !known.contains(ExactText($0.name.asciiFolded))
    }
  }
}
