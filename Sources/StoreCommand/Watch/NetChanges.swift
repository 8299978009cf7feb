import ModelStore

/// What changes of the journal that follow one another come to, record by record: what was undone
/// on the way is not told. Results of queries fold themselves, with their places.
struct NetChanges {
  private struct Key: Hashable {
    let model: String
    let key: [SQLValue]
  }

  private var order: [Key] = []
  /// nil where a record is as it was.
  private var changes: [Key: WatchedChange?] = [:]

  /// The net changes in the order in which their records were touched first.
  static func of(_ changes: [WatchedChange]) -> [WatchedChange] {
    var net = NetChanges()
    for change in changes { net.add(change) }
    return net.order.compactMap { net.changes[$0] ?? nil }
  }

  private mutating func add(_ change: WatchedChange) {
    let key = Key(model: change.change.model, key: change.change.key)
    guard let earlier = changes[key] else {
      order.append(key)
      changes[key] = .some(change)
      return
    }
    changes[key] = .some(earlier.map { Self.joined($0, change) } ?? change)
  }

  /// nil when the second took back the first. Who made the second is who is told.
  private static func joined(_ first: WatchedChange, _ second: WatchedChange) -> WatchedChange? {
    var change = second
    let (old, new) = (first.change.fields, second.change.fields)
    switch (first.change.operation, second.change.operation) {
    case (.insert, .update):
      change.change.operation = .insert
      change.change.fields = values(of: old.map { ($0.name, $0.new) }, replacedBy: new, \.new)
        .map { ChangeLine.Field(name: $0.name, old: nil, new: $0.value) }
      change.passage = first.passage
    case (.insert, .delete): return nil
    case (.update, .update):
      change.change.fields = differing(old, new)
      return change.change.fields.isEmpty && !new.isEmpty ? nil : change
    case (.update, .delete):
      change.change.fields = values(of: new.map { ($0.name, $0.old) }, replacedBy: old, \.old)
        .map { ChangeLine.Field(name: $0.name, old: $0.value, new: nil) }
    case (.delete, .insert):
      change.change.operation = .update
      change.change.fields = differing(old, new)
      change.passage = first.passage.map { _ in .within }
      return change.change.fields.isEmpty && !new.isEmpty ? nil : change
    case (.insert, .insert), (.update, .insert), (.delete, .update), (.delete, .delete): break
    }
    return change
  }

  /// The fields of both that are not as they were, in the order in which they were named.
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
