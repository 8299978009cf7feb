// Restoring the records.
extension Reversion {
  /// The required values of a record by field, as far as they are known; nil for a deleted record.
  typealias Target = (schema: ModelSchema, key: [SQLValue], image: [Int: SQLValue]?)

  /// Restores the records.
  ///
  /// It tries three ways until one is accepted. The first two run in a savepoint each. An error of
  /// the third way ends the transaction:
  ///
  /// 1. Entry by entry, newest first, only fields with a net change.
  /// 2. Entry by entry, all fields that are still as the entries left them. The file has had every
  ///    intermediate state before, so records make room for each other again.
  /// 3. Directly to the result, in an order in which no value is taken when another record needs
  ///    it. If all remaining records wait, those that can be inserted again are deleted first.
  ///
  /// - Returns: The check of the net changes of the whole transaction.
  /// - Throws: ``StoreError`` with code `conflict` if a record or field has changed since the
  ///   entries; `rejected` if a rule refuses the result.
  func apply(
    in tx: borrowing WriteTransaction
  ) throws -> (([RecordChange]) throws -> Void) {
    let targets = try targets(tx.access)
    try tx.access.connection.execute("PRAGMA defer_foreign_keys = ON")
    try restore(targets, tx)
    return { [self] changes in try Self.judge(changes, of: [self]) }
  }

  /// Brings records to the result without entries to follow.
  ///
  /// - Returns: As ``apply(in:)``.
  /// - Throws: As ``apply(in:)``.
  func reach(
    in tx: borrowing WriteTransaction
  ) throws -> (([RecordChange]) throws -> Void) {
    let targets = try targets(tx.access)
    try tx.access.connection.execute("PRAGMA defer_foreign_keys = ON")
    try goStraight(to: targets, tx)
    return { [self] changes in try Self.judge(changes, of: [self]) }
  }

  private func restore(_ targets: [Target], _ tx: borrowing WriteTransaction) throws {
    let changed = Dictionary(
      uniqueKeysWithValues: order.map { ($0, Set(nets[$0]?.touched ?? [])) })
    if try isAccepted(tx, { tx in try self.walk(changed, to: targets, tx) }) { return }
    let (all, others) = try everythingAsLeft(changed, tx.access)
    if all != changed,
      try isAccepted(tx, { tx in try self.walk(all, to: targets + others, tx) })
    {
      return
    }
    try goStraight(to: targets, tx)
  }

  /// Runs `way`. If a rule, trigger or binding refuses it, rolls it back and returns false.
  private func isAccepted(
    _ tx: borrowing WriteTransaction, _ way: (borrowing WriteTransaction) throws -> Void
  ) throws -> Bool {
    do {
      try tx.savepoint { tx in try way(tx) }
      return true
    } catch let error as StoreError
      where (error.code == .rejected || error.code == .conflict)
      && tx.access.connection.isInTransaction
    {
      return false
    }
  }

  /// Returns the required result, if everything is as the entries left it.
  private func targets(_ access: _TransactionAccess) throws -> [Target] {
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
          Self.whole(image).merging(old.filter { touched.contains($0.key) }) { _, old in old }
        }
        targets.append((schema, identity.key, target))
      }
    }
    if !conflicts.isEmpty { throw refusal(conflicts) }
    return targets
  }

  /// Returns the fields of all records that are still as the entries left them. It also returns the
  /// required result for records that the entries changed without a net change.
  ///
  /// - Parameter changed: The fields of the records with a net change.
  private func everythingAsLeft(
    _ changed: [Identity: Set<Int>], _ access: _TransactionAccess
  ) throws -> (fields: [Identity: Set<Int>], others: [Target]) {
    var fields = changed
    var others: [Target] = []
    for (identity, net) in nets {
      guard let schema = schemas[identity.model] else { continue }
      let current = try Self.image(schema, identity.key, access)
      guard let new = net.new, let current else {
        guard net.new == nil, current == nil else { continue }
        fields[identity] = Set(schema.fields.indices)
        if changed[identity] == nil { others.append((schema, identity.key, nil)) }
        continue
      }
      let left = Set(new.keys.filter { current[$0] == new[$0] })
      if changed[identity] != nil {
        fields[identity, default: []].formUnion(left)
      } else if !left.isEmpty, !net.isRecreated || left.count == new.count {
        fields[identity] = left
        others.append((schema, identity.key, Self.whole(current)))
      }
    }
    return (fields, others)
  }

  // Entry by entry

  /// Undoes the entries of the records in `fields`, newest first.
  ///
  /// - Parameter fields: The fields to set, for each record.
  private func walk(
    _ fields: [Identity: Set<Int>], to targets: [Target], _ tx: borrowing WriteTransaction
  ) throws {
    let records = records.filter { record in
      identity(of: record).map { fields[$0] != nil } ?? false
    }
    var index = records.endIndex
    while index > records.startIndex {
      index -= 1
      if index > records.startIndex, Self.isRekeyed(records, at: index) {
        // Treated as a change of the key, so that references to the record follow it.
        index -= 1
        try restore(records[index], from: records[index + 1].key, tx)
      } else {
        try takeBack(records[index], fields, tx)
      }
    }
    try settle(targets, tx)
  }

  private func identity(of record: LoggedRecord) -> Identity? {
    layouts.all[record.layout].map { Identity(model: $0.model, key: record.key) }
  }

  /// Whether a deletion and the insertion after it may be one record with a changed key. That is
  /// not so if an earlier deletion has the same key, because that is REPLACE.
  private static func isRekeyed(_ records: [LoggedRecord], at index: Int) -> Bool {
    let record = records[index]
    guard record.kind == .insert else { return false }
    let deletions = records[..<index].reversed()
      .prefix { $0.kind == .delete && $0.layout == record.layout }
    guard let latest = deletions.first else { return false }
    return latest.key == record.key || !deletions.contains { $0.key == record.key }
  }

  private func takeBack(
    _ record: LoggedRecord, _ fields: [Identity: Set<Int>], _ tx: borrowing WriteTransaction
  ) throws {
    guard let identity = identity(of: record), let schema = schemas[identity.model],
      let places = places[record.layout], let touched = fields[identity]
    else { return }
    switch record.kind {
    case .insert:
      guard try Self.image(schema, record.key, tx.access) != nil else { return }
      try tx.delete(schema, key: record.key)
    case .delete: try restore(record, from: record.key, tx)
    case .update:
      guard try Self.image(schema, record.key, tx.access) != nil else { return }
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

  /// Restores a deleted record, from the record that `key` names if that exists.
  private func restore(
    _ record: LoggedRecord, from key: [SQLValue], _ tx: borrowing WriteTransaction
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
    _ tx: borrowing WriteTransaction
  ) throws {
    if try Self.image(schema, key, tx.access) != nil {
      try tx.update(schema, key: key, set: values)
    } else {
      try tx.insert(values, into: schema)
    }
  }

  /// Repairs what bindings, triggers and cascades have changed in the records in between.
  private func settle(_ targets: [Target], _ tx: borrowing WriteTransaction) throws {
    for round in 0...Self.settlingCountMax {
      let wrong = try targets.filter { try !isSettled($0, tx.access) }
      if wrong.isEmpty { return }
      guard round < Self.settlingCountMax else {
        throw refusal(
          wrong.map { conflict($0.schema, $0.key, [], "is changed back by a binding or trigger") })
      }
      for target in wrong { try bring(target, tx) }
    }
  }

  private static let settlingCountMax = 4

  /// Deletes, updates or inserts the record of `target`.
  private func bring(_ target: Target, _ tx: borrowing WriteTransaction) throws {
    guard let image = target.image else {
      try tx.delete(target.schema, key: target.key)
      return
    }
    var values: [String: SQLValue] = [:]
    for (place, value) in image where target.schema.fields[place].generated == nil {
      values[target.schema.fields[place].name] = value
    }
    try put(values, target.schema, target.key, tx)
  }

  private func isSettled(_ target: Target, _ access: _TransactionAccess) throws -> Bool {
    let current = try Self.image(target.schema, target.key, access)
    guard let current, let image = target.image else {
      return current == nil && target.image == nil
    }
    return image.allSatisfy {
      current[$0.key] == $0.value || isFollowing($0.key, target.schema)
    }
  }

  /// Whether a field is computed or bound, so that its value depends on others.
  private func isFollowing(_ field: Int, _ schema: ModelSchema) -> Bool {
    schema.fields[field].generated != nil
      || boundFields[schema.name]?.contains(schema.fields[field].name) ?? false
  }

  /// Returns the record with exactly that key.
  private static func image(
    _ schema: ModelSchema, _ key: [SQLValue], _ access: _TransactionAccess
  ) throws -> [SQLValue]? {
    try access.record(schema, key: key).flatMap { $0.key == key ? $0.values : nil }
  }

  private static func whole(_ image: [SQLValue]) -> [Int: SQLValue] {
    Dictionary(uniqueKeysWithValues: image.enumerated().map { ($0, $1) })
  }

  // Straight to the result

  /// Restores each record in one step, in its own savepoint.
  ///
  /// A record waits while another record still has a value that it needs. Waiting records are tried
  /// again in the opposite order, so that a row of records that wait for one another takes two
  /// rounds. If all remaining records wait, those that can be inserted again are deleted first, all
  /// at once.
  ///
  /// - Throws: ``StoreError`` with code `rejected` if a rule refuses the result.
  private func goStraight(to targets: [Target], _ tx: borrowing WriteTransaction) throws {
    var waiting = targets.filter { $0.image != nil } + targets.filter { $0.image == nil }.reversed()
    var removable = Set(waiting.compactMap(removableIdentity))
    var isReversed = false
    while !waiting.isEmpty {
      var refused: [(target: Target, error: StoreError)] = []
      for target in waiting {
        do {
          try tx.savepoint { tx in try self.bring(target, tx) }
        } catch let error as StoreError
          where error.code == .rejected && tx.access.connection.isInTransaction
        {
          refused.append((target, error))
        }
      }
      if refused.count == waiting.count,
        try !removeAll(of: refused.map(\.target), &removable, tx)
      {
        // The first in the order of the targets.
        throw refused[isReversed ? refused.count - 1 : 0].error
      }
      waiting = refused.reversed().map(\.target)
      isReversed.toggle()
    }
    try settle(targets, tx)
  }

  /// Deletes the records that exist and can be inserted again without loss. It deletes all at once,
  /// because each would otherwise cost its own round.
  ///
  /// - Returns: Whether there was such a record.
  private func removeAll(
    of targets: [Target], _ removable: inout Set<Identity>, _ tx: borrowing WriteTransaction
  ) throws -> Bool {
    var hasRemoved = false
    for target in targets {
      let identity = Identity(model: target.schema.name, key: target.key)
      guard removable.remove(identity) != nil,
        try Self.image(target.schema, target.key, tx.access) != nil
      else { continue }
      if try isAccepted(tx, { tx in try tx.delete(target.schema, key: target.key) }) {
        hasRemoved = true
      }
    }
    return hasRemoved
  }

  /// Returns nil for a record that would lose something: columns that are not fields, or references
  /// to it.
  private func removableIdentity(_ target: Target) -> Identity? {
    guard target.image?.count == target.schema.fields.count,
      !partlyKnown.contains(target.schema.name), !referencedModels.contains(target.schema.name)
    else { return nil }
    return Identity(model: target.schema.name, key: target.key)
  }
}
