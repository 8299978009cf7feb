import Testing

@testable import ModelStore

/// Compares what a live query reports with the whole result before and after, as SQL returns them.
struct LiveQueryOracle {
  let schema: ModelSchema
  let terms: [(field: Int, term: SortTerm)]

  private func key(_ image: [SQLValue]) -> [SQLValue] { schema.keyIndices.map { image[$0] } }

  private func place(_ image: [SQLValue]) -> SortKey {
    SortKey(values: terms.map { image[$0.field] }, terms: terms.map(\.term), key: key(image))
  }

  /// Says in words what is wrong with `event`; nil when it is exact.
  func objection(
    to event: QueryChanges<DynamicRecord>, from old: [[SQLValue]], to new: [[SQLValue]]
  ) -> String? {
    var list = old.map { DynamicRecord(schema: schema, values: $0) }
    guard event.oldCount == old.count, event.newCount == new.count else { return "counts" }
    event.apply(to: &list)
    guard list.map(\.values) == new else { return "apply" }

    let oldRanks = Dictionary(uniqueKeysWithValues: old.enumerated().map { (key($1), $0) })
    let newRanks = Dictionary(uniqueKeysWithValues: new.enumerated().map { (key($1), $0) })
    let deletions = old.enumerated().filter { newRanks[key($0.element)] == nil }
    guard event.deletions.map(\.index) == deletions.map(\.offset),
      event.deletions.map(\.record?.values) == deletions.map(\.element),
      event.deletions.map(\.key) == deletions.map({ key($0.element) })
    else { return "deletions" }
    let insertions = new.enumerated().filter { oldRanks[key($0.element)] == nil }
    guard event.insertions.map(\.index) == insertions.map(\.offset),
      event.insertions.map(\.record.values) == insertions.map(\.element)
    else { return "insertions" }

    let retained = new.enumerated().compactMap { newRank, image in
      oldRanks[key(image)].map { (oldRank: $0, newRank: newRank) }
    }
    let updates = retained.filter { old[$0.oldRank] != new[$0.newRank] }
    guard event.updates.map(\.oldIndex) == updates.map(\.oldRank),
      event.updates.map(\.newIndex) == updates.map(\.newRank),
      event.updates.map(\.old.values) == updates.map({ old[$0.oldRank] }),
      event.updates.map(\.new.values) == updates.map({ new[$0.newRank] })
    else { return "updates" }
    for update in event.updates {
      let differing = schema.fields.indices.filter {
        update.old.values[$0] != update.new.values[$0]
      }
      guard update.fields.map(\.name) == differing.map({ schema.fields[$0].name }),
        update.fields.map(\.old) == differing.map({ update.old.values[$0] }),
        update.fields.map(\.new) == differing.map({ update.new.values[$0] })
      else { return "fields" }
    }

    // All rows, ranks counted one by one, instead of the touched ones only.
    let rows =
      retained.map { pair in
        CanonicalMoves.Row(
          oldRank: pair.oldRank, newRank: pair.newRank,
          sortKeyChanged: place(old[pair.oldRank]) != place(new[pair.newRank]))
      }
      + deletions.map { CanonicalMoves.Row(oldRank: $0.offset, newRank: nil, sortKeyChanged: true) }
      + insertions.map {
        CanonicalMoves.Row(oldRank: nil, newRank: $0.offset, sortKeyChanged: true)
      }
    let moves = CanonicalMoves.offsets(in: rows).map { rows[$0] }
    guard event.moves.map(\.oldIndex) == moves.map(\.oldRank),
      event.moves.map(\.newIndex) == moves.map(\.newRank)
    else { return "moves" }
    return objectionToInverse(of: event, from: old, to: new)
  }

  /// The event read backwards must turn the new result into the old one.
  private func objectionToInverse(
    of event: QueryChanges<DynamicRecord>, from old: [[SQLValue]], to new: [[SQLValue]]
  ) -> String? {
    let leaving = Set(event.insertions.map(\.index) + event.moves.map(\.newIndex))
    var list = new.enumerated().filter { !leaving.contains($0.offset) }.map(\.element)
    let arriving =
      event.deletions.map { ($0.index, $0.record?.values ?? []) }
      + event.moves.map { ($0.oldIndex, old[$0.oldIndex]) }
    for (index, image) in arriving.sorted(by: { $0.0 < $1.0 }) { list.insert(image, at: index) }
    for update in event.updates { list[update.oldIndex] = update.old.values }
    return list == old ? nil : "inverse"
  }
}
