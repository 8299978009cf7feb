import ModelStore
import RecordFormats

/// One line of `watch`: what happened to one record, and what is known of who did it.
struct WatchedChange {
  /// Where the record stood and stands in a sorted result; nil where it did or does not.
  struct Place {
    var old: Int?
    var new: Int?
    /// Whether the record was given another place among those that stay, also where it has the same
    /// index again because others came or went.
    var isMoved = false
    /// The same for all changes that came at once: `old` is a place before, and `new` one after all
    /// of them.
    var step = 0
  }

  /// What a change did to whether the record meets the predicate.
  enum Passage {
    /// It did before and does after, as far as it was and is there.
    case within
    /// The record was there and meets it now.
    case entered
    /// The record is still there and meets it no more.
    case left
  }

  var change: ChangeLine
  /// nil where no journal tells.
  var logged: JournalLine?
  /// nil where no result is followed.
  var place: Place?
  /// Whether the record was there before anything was watched.
  var isSnapshot = false
  /// nil where no predicate chooses.
  var passage: Passage?
  /// When it was heard of, in microseconds since 1970-01-01 00:00:00 UTC; nil for what was there
  /// before anybody listened.
  var time: Int64?

  /// The line for programs.
  var json: JSONValue {
    var members = logged?.placeMembers ?? unloggedMembers
    members.reserveCapacity(Self.memberCountMax)
    members += change.changeMembers
    if isSnapshot, let index = members.firstIndex(where: { $0.name == "op" }) {
      members[index].value = .string("snapshot")
    }
    if let place {
      func json(_ index: Int?) -> JSONValue { index.map { .integer(Int64($0)) } ?? .null }
      members.append(
        .init("index", .object([.init("from", json(place.old)), .init("to", json(place.new))])))
      members.append(.init("step", .integer(Int64(place.step))))
    }
    if let passage {
      members.append(.init("entered", .boolean(passage == .entered)))
      members.append(.init("left", .boolean(passage == .left)))
    }
    members.append(.init("origin", .string(logged?.origin ?? "\(change.origin)")))
    return .object(members)
  }

  private static let memberCountMax = 13

  private var unloggedMembers: [JSONValue.Member] {
    [
      .init("position", .null), .init("txn", .null),
      .init("time", time.map { .string(TimeText.iso($0)) } ?? .null),
      .init("actor", .null),
    ]
  }

  /// The line for a person; cut to `width` cells where there is a width.
  func text(palette: Palette, width: Int?) -> String {
    let clock = (logged?.transaction.time ?? time).map { TimeText.clock($0) } ?? TimeText.noClock
    var notes: [String] = []
    if isSnapshot { notes.append("was there") }
    if passage == .entered { notes.append("meets it now") }
    if passage == .left { notes.append("no longer meets it") }
    if let place, let index = text(of: place) { notes.append(index) }
    if let logged, !isSnapshot { notes.append(logged.who) }
    let end = notes.isEmpty ? "" : "   " + notes.joined(separator: ", ")
    let room = width.map { $0 - DisplayWidth.of(clock) - 1 - DisplayWidth.of(end) }
    return palette.dressed(clock, as: .hint) + " "
      + change.plain.text(palette: palette, width: room)
      + palette.dressed(CellText.visible(end), as: .hint)
  }

  private func text(of place: Place) -> String? {
    switch (place.old, place.new) {
    case (let old?, let new?): old == new ? nil : "index \(old) -> \(new)"
    case (nil, let new?): "index \(new)"
    case (let old?, nil): "was index \(old)"
    case (nil, nil): nil
    }
  }
}

extension ChangeLine {
  /// Without a word on who did it, which stands elsewhere, unless it was a binding.
  fileprivate var plain: ChangeLine {
    if case .binding = origin { return self }
    var line = self
    line.origin = .user
    return line
  }
}
