import ModelStore

/// The net changes of records: a change that a later change takes back is left out.
struct NetChanges {
  private struct Key: Hashable {
    let model: String
    let key: [SQLValue]
  }

  private var order: [Key] = []
  /// nil for a record without a net change.
  private var changes: [Key: WatchedChange?] = [:]
  /// The records with changes in unknown fields, which therefore always have a net change.
  private var unknown: Set<Key> = []

  /// The net changes in the order of their records' first changes. Each has the index of its
  /// record's last change, which belongs to an intermediate result.
  static func of(_ changes: [WatchedChange]) -> [WatchedChange] {
    var net = NetChanges()
    for change in changes { net.add(change) }
    return net.order.compactMap { net.changes[$0] ?? nil }
  }

  /// The net changes of a result's records, with their indices before and after all changes.
  ///
  /// - Parameters:
  ///   - old: The keys of the result before, in order.
  ///   - new: The keys of the result after, in order.
  static func placed(
    _ changes: [WatchedChange], from old: some Sequence<[SQLValue]>,
    to new: some Sequence<[SQLValue]>
  ) -> [WatchedChange] {
    func keys(without operation: RecordChange.Operation) -> Set<[SQLValue]> {
      Set(changes.lazy.filter { $0.change.operation != operation }.map(\.change.key))
    }
    let before = indices(of: keys(without: .insert), in: old)
    let after = indices(of: keys(without: .delete), in: new)
    return changes.map { change in
      var change = change
      let key = change.change.key
      change.place = WatchedChange.Place(
        old: change.change.operation == .insert ? nil : before[key],
        new: change.change.operation == .delete ? nil : after[key],
        isMoved: change.place?.isMoved ?? false, hasSlid: change.place?.hasSlid ?? false)
      return change
    }
  }

  /// - Complexity: Linear in `keys` up to the last index that is needed.
  private static func indices(
    of wanted: Set<[SQLValue]>, in keys: some Sequence<[SQLValue]>
  ) -> [[SQLValue]: Int] {
    var missing = wanted
    var indices: [[SQLValue]: Int] = [:]
    for (index, key) in keys.enumerated() {
      guard !missing.isEmpty else { break }
      if missing.remove(key) != nil { indices[key] = index }
    }
    return indices
  }

  private mutating func add(_ change: WatchedChange) {
    let key = Key(model: change.change.model, key: change.change.key)
    if change.change.operation == .update && change.change.fields.isEmpty { unknown.insert(key) }
    guard let earlier = changes[key] else {
      order.append(key)
      changes[key] = .some(change)
      return
    }
    let isKnown = !unknown.contains(key)
    changes[key] = .some(earlier.map { Self.joined($0, change, isKnown: isKnown) } ?? change)
  }

  /// nil if the second change takes back the first. The result names the author of the second.
  private static func joined(
    _ first: WatchedChange, _ second: WatchedChange, isKnown: Bool
  ) -> WatchedChange? {
    var change = second
    if first.place?.isMoved == true { change.place?.isMoved = true }
    let (old, new) = (first.change.fields, second.change.fields)
    switch (first.change.operation, second.change.operation) {
    case (.insert, .update):
      change.change.operation = .insert
      change.change.fields = values(of: old.map { ($0.name, $0.new) }, replacedBy: new, \.new)
        .map { ChangeLine.Field(name: $0.name, old: nil, new: $0.value) }
      change.passage = first.passage
      change.isSnapshot = first.isSnapshot
    case (.insert, .delete): return nil
    case (.update, .update):
      change.change.fields = differing(old, new)
      return change.change.fields.isEmpty && !new.isEmpty && isKnown ? nil : change
    case (.update, .delete):
      change.change.fields = values(of: new.map { ($0.name, $0.old) }, replacedBy: old, \.old)
        .map { ChangeLine.Field(name: $0.name, old: $0.value, new: nil) }
    case (.delete, .insert):
      change.change.operation = .update
      change.place?.isMoved = true
      change.change.fields = differing(old, new)
      change.passage = first.passage.map { _ in .within }
      return change.change.fields.isEmpty && !new.isEmpty && isKnown ? nil : change
    case (.insert, .insert), (.update, .insert), (.delete, .update), (.delete, .delete): break
    }
    return change
  }

  /// The fields of both changes whose values differ in the end, in their first order.
  private static func differing(
    _ old: [ChangeLine.Field], _ new: [ChangeLine.Field]
  ) -> [ChangeLine.Field] {
    var fields = old
    for field in new {
      if let index = fields.firstIndex(where: { $0.name == field.name }) {
        fields[index].new = field.new
      } else {
        fields.append(field)
      }
    }
    return fields.filter { $0.old != $0.new }
  }

  private static func values(
    of image: [(name: String, value: SQLValue?)], replacedBy fields: [ChangeLine.Field],
    _ side: (ChangeLine.Field) -> SQLValue?
  ) -> [(name: String, value: SQLValue?)] {
    image.map { name, value in
      (name, fields.first { $0.name == name }.flatMap(side) ?? value)
    }
  }
}
