import ModelStore
import RecordFormats

/// One line of `watch`: the change of one record, and who made it if that is known.
struct WatchedChange {
  /// The record's index before and after in a sorted result; nil if it is not in the result.
  struct Place {
    var old: Int?
    var new: Int?
    /// Whether the record moved among the records that stay, even if its index is the same because
    /// others came or went.
    var isMoved = false
    /// Whether the record crossed the edge of a window, because others came or went.
    var hasSlid = false
    /// The same number for all changes that arrived together: `old` is an index before all of them,
    /// and `new` is an index after.
    var step = 0
  }

  /// How a change affected whether the record meets the predicate.
  enum Passage {
    /// The record meets it before and after, or at the one side where it exists.
    case within
    /// The record existed before and begins to meet it.
    case entered
    /// The record still exists and stops meeting it.
    case left
  }

  var change: ChangeLine
  /// nil without a journal.
  var logged: JournalLine?
  /// nil unless a result is followed.
  var place: Place?
  /// Whether the record is part of the snapshot, from before watching began.
  var isSnapshot = false
  /// nil without a predicate.
  var passage: Passage?
  /// When the change arrived, in microseconds since 1970-01-01 00:00:00 UTC; nil for changes before
  /// watching began.
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
      if place.hasSlid { members.append(.init("slid", .boolean(true))) }
    }
    if let passage {
      members.append(.init("entered", .boolean(passage == .entered)))
      members.append(.init("left", .boolean(passage == .left)))
    }
    members.append(.init("origin", .string(logged?.origin ?? "\(change.origin)")))
    return .object(members)
  }

  private static let memberCountMax = 14

  private var unloggedMembers: [JSONValue.Member] {
    [
      .init("position", .null), .init("txn", .null),
      .init("time", time.map { .string(TimeText.iso($0)) } ?? .null),
      .init("actor", .null),
    ]
  }

  /// The line for a person, cut to `width` cells unless that is nil.
  func text(palette: Palette, width: Int?) -> String {
    let clock = (logged?.transaction.time ?? time).map { TimeText.clock($0) } ?? TimeText.noClock
    var notes: [String] = []
    if isSnapshot { notes.append("was there") }
    if passage == .entered { notes.append("meets it now") }
    if passage == .left { notes.append("no longer meets it") }
    if let place, let index = text(of: place) { notes.append(index) }
    if place?.hasSlid == true { notes.append("slid over the edge") }
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
  /// The change without its author, which has its own place, unless a binding made it.
  fileprivate var plain: ChangeLine {
    if case .binding = origin { return self }
    var line = self
    line.origin = .user
    return line
  }
}
