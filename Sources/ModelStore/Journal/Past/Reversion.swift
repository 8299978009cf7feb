/// Takes back what entries of the change journal say, inside a writing transaction: records that
/// came go, those that went come back, and fields get the values that they had.
///
/// `Reversion+WayBack.swift` holds the ways in which the records get there.
struct Reversion {
  struct Identity: Hashable {
    let model: String
    let key: [SQLValue]
  }

  /// What the entries come to for one record. Values by field, beside the key and as far as the
  /// entries tell; nil where there is no record.
  struct Net {
    var old: [Int: SQLValue]?
    var new: [Int: SQLValue]?
    /// Whether the record was gone for a while.
    var isRecreated = false

    var isNothing: Bool {
      guard let old, let new else { return old == nil && new == nil }
      return old.allSatisfy { new[$0.key] == $0.value }
    }

    /// The fields that differ, of a record that is there before and after.
    var differing: [Int] {
      guard let old, let new else { return [] }
      return old.keys.filter { new[$0] != old[$0] }.sorted()
    }

    /// The fields that taking the entries back sets on the way, of a record that is there after
    /// them. They must be as the entries left them.
    var touched: [Int] {
      guard let old, !isRecreated else { return new?.keys.sorted() ?? [] }
      return new == nil ? old.keys.sorted() : differing
    }
  }

  let layouts: JournalLayouts
  let schemas: [String: ModelSchema]
  /// The fields that bindings keep, by model, which follow whatever they are bound to.
  let boundFields: [String: Set<String>]
  /// The models whose tables have columns that are no fields, which no entry holds.
  let partlyKnown: Set<String>
  /// The models that a foreign key with an action on deletion refers to.
  let referencedModels: Set<String>
  private let refusals: StoreConfiguration.Refusals
  /// The records with a net change, by their first entry.
  private(set) var order: [Identity] = []
  /// Also of records whose net change is nothing.
  private(set) var nets: [Identity: Net] = [:]
  /// All entries, oldest first.
  private(set) var records: [LoggedRecord] = []
  /// Of each layout that occurs, where its fields are in the model now.
  private(set) var places: [Int64: [Int?]] = [:]

  /// Takes nothing back yet.
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

  /// Takes all of `entries` back.
  ///
  /// - Parameter entries: Of whole transactions, oldest first, with nothing left out between them.
  /// - Throws: ``StoreError`` with code `journalGap` when they do not tell everything.
  /// - Precondition: Called once.
  mutating func add(_ entries: [JournalEntry]) throws {
    var gaps: Set<String> = []
    for entry in entries {
      switch entry.content {
      case .record(let record): try add(record)
      case .started(let layout), .stopped(let layout):
        if let model = layouts.all[layout]?.model { gaps.insert(model) }
      case .transaction: break
      }
    }
    if let model = order.first(where: { gaps.contains($0.model) })?.model {
      throw Self.gap(model, "was off for a while in between")
    }
    let nets = nets
    order.removeAll { nets[$0]?.isNothing ?? true }
    // What is not entered could not be taken back in its turn, and would count as done all the
    // same.
    if let model = order.first(where: { layouts.layout(of: $0.model)?.detail != .full })?.model {
      throw Self.gap(
        model, "is off or keeps only keys now, and would not tell of it; turn it on in full first")
    }
  }

  /// Whether there is nothing to take back.
  var isEmpty: Bool { order.isEmpty }

  // What the entries come to

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

  /// - Throws: ``StoreError`` with code `journalGap` when the entry does not contain all of its
  ///   change.
  private func checked(
    _ record: LoggedRecord
  ) throws -> (layout: JournalLayout, schema: ModelSchema) {
    guard let layout = layouts.all[record.layout], let schema = schemas[layout.model] else {
      throw Self.gap(layouts.all[record.layout]?.model ?? "", "tells of a model that is gone")
    }
    guard layout.detail == .full else { throw Self.gap(layout.model, "holds only its keys") }
    guard record.malformedTexts.isEmpty else {
      throw Self.gap(layout.model, "holds a text that is not UTF-8, which a store does not write")
    }
    if record.kind == .delete, partlyKnown.contains(layout.model) {
      throw Self.gap(
        layout.model, "does not hold all columns of a deleted record, of which some are no fields")
    }
    return (layout, schema)
  }

  /// Refuses what nobody asked for: a cascade may take records along that came later. Bindings and
  /// triggers may do what is theirs.
  ///
  /// - Parameters:
  ///   - changes: What the transaction comes to.
  ///   - reversions: What was taken back in it, one after the other.
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
      // A record that was gone in between comes back with all of its fields.
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
      remedy: "Take back first what came later, or change it by hand.",
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
      "This cannot be taken back: the change journal of \(model) \(reason). Nothing was changed.",
      model: model)
  }
}

extension Reversion.Net {
  /// What is known before the first entry of a record.
  fileprivate init(before record: LoggedRecord) {
    let values: [Int: SQLValue]? = record.kind == .insert ? nil : [:]
    self.init(old: values, new: values)
  }

  /// Follows an entry.
  ///
  /// - Parameter places: Where the entry's fields are in the model now.
  /// - Returns: Whether it leads on from those before.
  fileprivate mutating func add(_ record: LoggedRecord, _ places: [Int?]) -> Bool {
    guard (record.kind == .insert) == (new == nil) else { return false }
    switch record.kind {
    case .insert:
      new = Self.image(of: record, places)
      isRecreated = old != nil
    case .delete:
      // What the entries have not told yet is what it was before them.
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
  /// Whether it has columns with values of their own that are no fields of `schema`.
  fileprivate func hasColumns(beside schema: ModelSchema) -> Bool {
    let known = Set(schema.fields.map { ExactText($0.column.asciiFolded) })
    return columns.contains {
      $0.generated == nil && !known.contains(ExactText($0.name.asciiFolded))
    }
  }
}
