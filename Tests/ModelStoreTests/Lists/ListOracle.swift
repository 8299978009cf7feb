import Testing

@testable import ModelStore

/// A mix and its songs as plain SQL gives them at one moment.
struct ListState: Equatable {
  struct Slot: Hashable {
    let slot: Int64
    let label: Int64
    let song: Int64
  }

  /// In the list's order.
  let slots: [Slot]
  let titles: [Int64: String]

  init(of mix: Int64, in store: Store) throws {
    (slots, titles) = try store.read { tx in
      let slots = try tx.rows(
        "SELECT slot, label, element FROM Mix_songs WHERE owner = \(mix) ORDER BY label, slot")
      let songs = try tx.fetch(Song.all)
      return (
        slots.compactMap { row in
          guard case .integer(let slot) = row.values[0], case .integer(let label) = row.values[1],
            case .integer(let song) = row.values[2]
          else { return nil }
          return Slot(slot: slot, label: label, song: song)
        },
        Dictionary(uniqueKeysWithValues: songs.map { ($0.id, $0.title) })
      )
    }
  }

  var songs: [Int64] { slots.map(\.song) }
}

/// Compares what an observer of a list received with the list before and after, as SQL returns
/// them.
struct ListOracle {
  let old: ListState
  let new: ListState

  /// Whether an observer of titles must be notified. A slot with another label has not necessarily
  /// moved.
  var hasDifference: Bool {
    old.slots.map { [$0.slot, $0.song] } != new.slots.map { [$0.slot, $0.song] }
      || !updatedIndices.isEmpty
  }

  private func ranks(_ state: ListState) -> [[Int64]: Int] {
    Dictionary(
      uniqueKeysWithValues: state.slots.enumerated().map {
        ([$0.element.slot, $0.element.song], $0.offset)
      })
  }

  /// Old and new index of the slots that stay, by new index.
  private var retained: [(old: Int, new: Int)] {
    let oldRanks = ranks(old)
    return new.slots.enumerated().compactMap { index, slot in
      oldRanks[[slot.slot, slot.song]].map { ($0, index) }
    }
  }

  private var updatedIndices: [[Int]] {
    retained.filter { old.titles[new.slots[$0.new].song] != new.titles[new.slots[$0.new].song] }
      .map { [$0.old, $0.new] }
  }

  /// Says in words what is wrong with `event`; nil when it is exact.
  func objection(to event: ListChanges<Int64>) throws -> String? {
    guard try event.old.keys() == old.songs, try event.new.keys() == new.songs,
      event.old.count == old.slots.count, event.new.count == new.slots.count
    else { return "the whole lists" }
    var keys = old.songs
    event.apply(to: &keys)
    guard keys == new.songs else { return "P1: apply gives \(keys)" }
    guard backwards(event) == old.songs else { return "P2: the way back" }
    guard old.slots.count - event.deletions.count + event.insertions.count == new.slots.count
    else { return "P1: the counts" }

    let (oldRanks, newRanks) = (ranks(old), ranks(new))
    let deletions = old.slots.enumerated().filter {
      newRanks[[$0.element.slot, $0.element.song]] == nil
    }
    guard
      event.deletions.map({ [Int64($0.index), $0.key] })
        == deletions.map({ [Int64($0.offset), $0.element.song] })
    else { return "the deletions" }
    let insertions = new.slots.enumerated().filter {
      oldRanks[[$0.element.slot, $0.element.song]] == nil
    }
    guard
      event.insertions.map({ [Int64($0.index), $0.key] })
        == insertions.map({ [Int64($0.offset), $0.element.song] })
    else { return "the insertions" }

    let moves = Set(event.moves.map { [$0.oldIndex, $0.newIndex] })
    let pairs = retained
    guard moves.isSubset(of: Set(pairs.map { [$0.old, $0.new] })), moves.count == event.moves.count
    else { return "the moves" }
    guard moves.allSatisfy({ old.slots[$0[0]].label != new.slots[$0[1]].label }) else {
      return "P7: a slot moved that has its label still"
    }
    let staying = pairs.filter { !moves.contains([$0.old, $0.new]) }.map(\.old)
    guard staying == staying.sorted() else { return "P8: the order of those that stay" }

    guard event.updates.map({ [$0.oldIndex, $0.newIndex] }) == updatedIndices else {
      return "the updates \(event.updates) instead of \(updatedIndices)"
    }
    for update in event.updates {
      let song = new.slots[update.newIndex].song
      guard update.key == song, update.fields.map(\.name) == ["title"],
        update.fields[0].old == old.titles[song].map(SQLValue.text),
        update.fields[0].new == new.titles[song].map(SQLValue.text)
      else { return "P9: the fields" }
    }
    return objectionToMultiset(event) ?? event.operations.flatMap(objection)
  }

  private func backwards(_ event: ListChanges<Int64>) -> [Int64] {
    let leaving = Set(event.insertions.map(\.index) + event.moves.map(\.newIndex))
    var list = new.songs.enumerated().filter { !leaving.contains($0.offset) }.map(\.element)
    let arriving =
      event.deletions.map { ($0.index, $0.key) } + event.moves.map { ($0.oldIndex, $0.key) }
    for (index, song) in arriving.sorted(by: { $0.0 < $1.0 }) { list.insert(song, at: index) }
    return list
  }

  private func objectionToMultiset(_ event: ListChanges<Int64>) -> String? {
    var counts: [Int64: Int] = [:]
    for song in old.songs { counts[song, default: 0] += 1 }
    for deletion in event.deletions { counts[deletion.key, default: 0] -= 1 }
    for insertion in event.insertions { counts[insertion.key, default: 0] += 1 }
    for song in new.songs { counts[song, default: 0] -= 1 }
    return counts.values.allSatisfy { $0 == 0 } ? nil : "P14: the elements do not add up"
  }

  /// Replays the operations one by one on the list before.
  private func objection(to operations: [ListOperation<Int64>]) -> String? {
    var list = old.songs
    for operation in operations {
      guard operation.oldCount == list.count else { return "\(operation.kind): the count before" }
      let leaving = operation.elements.compactMap { element in
        element.oldIndex.map { ($0, element.key) }
      }
      for (index, song) in leaving.sorted(by: { $0.0 > $1.0 }) {
        guard list.indices.contains(index), list[index] == song else {
          return "\(operation.kind): \(song) is not at \(index)"
        }
        list.remove(at: index)
      }
      let coming = operation.elements.compactMap { element in
        element.newIndex.map { ($0, element.key) }
      }
      for (index, song) in coming.sorted(by: { $0.0 < $1.0 }) {
        guard index <= list.count else { return "\(operation.kind): no place \(index)" }
        list.insert(song, at: index)
      }
      guard operation.newCount == list.count else { return "\(operation.kind): the count after" }
    }
    return list == new.songs ? nil : "the operations give \(list)"
  }
}
