/// Takes back what entries of the change journal say, inside a writing transaction: records that
/// came go, those that went come back, and fields get the values that they had.
///
/// It goes back entry by entry, so that on the way every record is what it was once: no rule of the
/// file sees a state that it has not seen before.
struct Reversion {
  private struct Identity: Hashable {
    let model: String
    let key: [SQLValue]
  }

  /// What the entries come to for one record. Values by field, beside the key and as far as the
  /// entries tell; nil where there is no record.
  private struct Net {
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

  private let layouts: JournalLayouts
  private let schemas: [String: ModelSchema]
  /// The fields that bindings keep, by model, which follow whatever they are bound to.
  private let boundFields: [String: Set<String>]
  /// The models whose tables have columns that are no fields, which no entry holds.
  private let partlyKnown: Set<String>
  private let refusals: StoreConfiguration.Refusals
  private var order: [Identity] = []
  private var nets: [Identity: Net] = [:]
  private var records: [LoggedRecord] = []
  /// Of each layout that occurs, where its fields are in the model now.
  private var places: [Int64: [Int?]] = [:]

  /// - Parameter entries: Of whole transactions, oldest first, with nothing left out between them.
  /// - Throws: ``StoreError`` with code `journalGap` when they do not tell everything.
  init(
    of entries: [JournalEntry], layouts: JournalLayouts, models: StoreSchema,
    bindings: [BindingSchema], catalog: Catalog, refusals: StoreConfiguration.Refusals
  ) throws {
    self.layouts = layouts
    partlyKnown = Set(
      models.models.filter { catalog.table(named: $0.table)?.hasColumns(beside: $0) ?? false }
        .map(\.name))
    boundFields = Dictionary(grouping: bindings.map(\.target), by: \.model)
      .mapValues { Set($0.map(\.field)) }
    self.refusals = refusals
    schemas = Dictionary(models.models.map { ($0.name, $0) }) { first, _ in first }
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
    let (nets, names) = (nets, layouts.all.mapValues(\.model))
    records.removeAll { record in
      let identity = Identity(model: names[record.layout] ?? "", key: record.key)
      return nets[identity]?.isNothing ?? true
    }
    order.removeAll { nets[$0]?.isNothing ?? true }
    // What is not entered could not be taken back in its turn, and would count as done all the same.
    if let model = order.first(where: { layouts.layout(of: $0.model)?.detail != .full })?.model {
      throw Self.gap(
        model, "is off or keeps only keys now, and would not tell of it; turn it on in full first")
    }
  }

  /// Whether there is nothing to take back.
  var isEmpty: Bool { order.isEmpty }

  // What the entries come to

  private mutating func add(_ record: LoggedRecord) throws {
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
    let identity = Identity(model: layout.model, key: record.key)
    let places = self.places[record.layout] ?? layout.places(in: schema)
    self.places[record.layout] = places
    var image: [Int: SQLValue] = [:]
    for (place, value) in zip(places, record.image) {
      if let place { image[place] = value }
    }
    var net: Net
    if let known = nets[identity] {
      net = known
      guard (record.kind == .insert) == (net.new == nil) else {
        throw Self.gap(layout.model, "has missed changes")
      }
    } else {
      order.append(identity)
      net = Net(old: record.kind == .insert ? nil : [:], new: record.kind == .insert ? nil : [:])
    }
    switch record.kind {
    case .insert:
      net.new = image
      net.isRecreated = net.old != nil
    case .delete:
      // What the entries have not told yet is what it was before them.
      if let new = net.new { net.old?.merge(image.filter { new[$0.key] == nil }) { old, _ in old } }
      net.new = nil
    case .update:
      for change in record.changes {
        guard let place = places[change.place] else { continue }
        if net.new?[place] == nil { net.old?[place] = change.old }
        guard net.new?[place] ?? change.old == change.old else {
          throw Self.gap(layout.model, "has missed changes")
        }
        net.new?[place] = change.new
      }
    }
    nets[identity] = net
    records.append(record)
  }

  // Taking back

  /// What the records have to be afterwards, by field and as far as it is known: nil for one that
  /// is gone.
  private typealias Target = (schema: ModelSchema, key: [SQLValue], image: [Int: SQLValue]?)

  /// Does it.
  ///
  /// - Returns: What judges everything that the transaction comes to in the end.
  /// - Throws: ``StoreError`` with code `conflict` when a record or field is not any more what the
  ///   entries made of it.
  func apply(
    in tx: borrowing Transaction
  ) throws -> (([RecordChange]) throws -> Void) {
    let targets = try targets(tx.access)
    try tx.access.connection.execute("PRAGMA defer_foreign_keys = ON")
    var index = records.endIndex
    while index > records.startIndex {
      index -= 1
      if index > records.startIndex, isRekeyed(at: index) {
        // Taken for a change of key, which references to the record follow.
        index -= 1
        try restore(records[index], from: records[index + 1].key, tx)
      } else {
        try takeBack(records[index], tx)
      }
    }
    try settle(targets, tx)
    return { [self] changes in try Self.judge(changes, of: [self]) }
  }

  /// Whether an insertion and the deletion before it may be one record that got another key: not
  /// where one of the deletions before is of the same key, which is REPLACE.
  private func isRekeyed(at index: Int) -> Bool {
    let record = records[index]
    guard record.kind == .insert else { return false }
    let deletions = records[..<index].reversed()
      .prefix { $0.kind == .delete && $0.layout == record.layout }
    guard let latest = deletions.first else { return false }
    return latest.key == record.key || !deletions.contains { $0.key == record.key }
  }

  /// What has to come out, if everything is as the entries left it.
  private func targets(_ access: TransactionAccess) throws -> [Target] {
    var conflicts: [Violation] = []
    var targets: [Target] = []
    for identity in order {
      guard let schema = schemas[identity.model], let net = nets[identity] else { continue }
      let current = try Self.image(schema, identity.key, access)
      switch (net.new, current) {
      case (nil, nil):
        var image = net.old ?? [:]
        for (place, value) in zip(schema.keyIndices, identity.key) { image[place] = value }
        targets.append((schema, identity.key, image))
      case (nil, .some):
        conflicts.append(conflict(schema, identity.key, [], "exists again"))
      case (.some, nil):
        conflicts.append(conflict(schema, identity.key, [], "was deleted since"))
      case (let new?, let image?):
        let touched = net.touched
        let changed = touched.filter { image[$0] != new[$0] && !isFollowing($0, schema) }
        guard changed.isEmpty else {
          conflicts.append(
            conflict(
              schema, identity.key, changed, "changed since", values: changed.map { image[$0] }))
          continue
        }
        let target = net.old.map { old in
          let whole = Dictionary(uniqueKeysWithValues: image.enumerated().map { ($0, $1) })
          return whole.merging(old.filter { touched.contains($0.key) }) { _, old in old }
        }
        targets.append((schema, identity.key, target))
      }
    }
    if !conflicts.isEmpty { throw refusal(conflicts) }
    return targets
  }

  private func takeBack(_ record: LoggedRecord, _ tx: borrowing Transaction) throws {
    guard let layout = layouts.all[record.layout], let schema = schemas[layout.model],
      let places = places[record.layout]
    else { return }
    switch record.kind {
    case .insert:
      guard try Self.image(schema, record.key, tx.access) != nil else { return }
      try tx.delete(schema, key: record.key)
    case .delete: try restore(record, from: record.key, tx)
    case .update:
      guard try Self.image(schema, record.key, tx.access) != nil else { return }
      let touched = nets[Identity(model: layout.model, key: record.key)]?.touched ?? []
      var values: [String: SQLValue] = [:]
      for change in record.changes {
        guard let place = places[change.place], touched.contains(place),
          schema.fields[place].generated == nil
        else { continue }
        values[schema.fields[place].name] = change.old
      }
      try tx.update(schema, key: record.key, set: values)
    }
  }

  /// Brings a deleted record back: out of the one that `key` names, if it is there.
  private func restore(
    _ record: LoggedRecord, from key: [SQLValue], _ tx: borrowing Transaction
  ) throws {
    guard let layout = layouts.all[record.layout], let schema = schemas[layout.model],
      let places = places[record.layout]
    else { return }
    var values: [String: SQLValue] = [:]
    for (place, value) in zip(schema.keyIndices, record.key) {
      values[schema.fields[place].name] = value
    }
    for (place, value) in zip(places, record.image) {
      guard let place, schema.fields[place].generated == nil else { continue }
      values[schema.fields[place].name] = value
    }
    try put(values, schema, key, tx)
  }

  private func put(
    _ values: [String: SQLValue], _ schema: ModelSchema, _ key: [SQLValue],
    _ tx: borrowing Transaction
  ) throws {
    if try Self.image(schema, key, tx.access) != nil {
      try tx.update(schema, key: key, set: values)
    } else {
      try tx.insert(values, into: schema)
    }
  }

  /// Sets right what bindings, triggers and cascades have made of the records on the way.
  private func settle(_ targets: [Target], _ tx: borrowing Transaction) throws {
    for round in 0...Self.settlingCountMax {
      let wrong = try targets.filter { target in
        let current = try Self.image(target.schema, target.key, tx.access)
        guard let current, let image = target.image else {
          return current != nil || target.image != nil
        }
        return !isSettled(current, image, target.schema)
      }
      if wrong.isEmpty { return }
      guard round < Self.settlingCountMax else {
        throw refusal(
          wrong.map { conflict($0.schema, $0.key, [], "is changed again by a binding or trigger") })
      }
      for target in wrong {
        guard let image = target.image else {
          try tx.delete(target.schema, key: target.key)
          continue
        }
        var values: [String: SQLValue] = [:]
        for (place, value) in image where target.schema.fields[place].generated == nil {
          values[target.schema.fields[place].name] = value
        }
        try put(values, target.schema, target.key, tx)
      }
    }
  }

  private static let settlingCountMax = 4

  private func isSettled(
    _ current: [SQLValue], _ wanted: [Int: SQLValue], _ schema: ModelSchema
  ) -> Bool {
    wanted.allSatisfy { current[$0.key] == $0.value || isFollowing($0.key, schema) }
  }

  /// Whether a field's value is nobody's choice: it is computed or bound.
  private func isFollowing(_ field: Int, _ schema: ModelSchema) -> Bool {
    schema.fields[field].generated != nil
      || boundFields[schema.name]?.contains(schema.fields[field].name) ?? false
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

  /// The record with exactly that key.
  private static func image(
    _ schema: ModelSchema, _ key: [SQLValue], _ access: TransactionAccess
  ) throws -> [SQLValue]? {
    try access.record(schema, key: key).flatMap { $0.key == key ? $0.values : nil }
  }

  // Refusals

  private func conflict(
    _ schema: ModelSchema, _ key: [SQLValue], _ fields: [Int], _ message: String,
    values: [SQLValue]? = nil
  ) -> Violation {
    Violation(
      kind: .conflict, model: schema.name, key: key, fields: fields.map { schema.fields[$0].name },
      rule: "unchanged", message: message,
      remedy: "Take back first what came later, or change it by hand.",
      values: refusals.tellsValues ? values : nil)
  }

  private func refusal(_ conflicts: [Violation]) -> StoreError {
    var error = StoreError(
      rejecting: Array(conflicts.prefix(max(1, refusals.violationCountMax))),
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

extension TableFacts {
  /// Whether it has columns with values of their own that are no fields of `schema`.
  fileprivate func hasColumns(beside schema: ModelSchema) -> Bool {
    let known = Set(schema.fields.map { ExactText($0.column.asciiFolded) })
    return columns.contains {
      $0.generated == nil && !known.contains(ExactText($0.name.asciiFolded))
    }
  }
}
