import ModelStore

/// One line of `watch`: what happened to one record, and what is known of who did it.
struct WatchedChange {
  /// Where the record stood and stands in a sorted result; nil where it did or does not.
  struct Place {
    var old: Int?
    var new: Int?
  }

  var change: ChangeLine
  /// nil where no journal tells.
  var logged: JournalLine?
  /// nil where no result is followed.
  var place: Place?
  /// Whether the record was there before anything was watched.
  var isSnapshot = false
  /// Whether the record itself did not come or go, but met the predicate or met it no more.
  var isFilter = false
  /// When it was heard of, in microseconds since 1970-01-01 00:00:00 UTC.
  var time: Int64

  /// The line for programs.
  var json: JSONValue {
    guard case .object(var members) = logged?.json ?? unlogged else { return .null }
    if isSnapshot, let index = members.firstIndex(where: { $0.name == "op" }) {
      members[index].value = .string("snapshot")
    }
    if let place {
      func json(_ index: Int?) -> JSONValue { index.map { .integer(Int64($0)) } ?? .null }
      members.append(
        .init("index", .object([.init("from", json(place.old)), .init("to", json(place.new))])))
      members.append(.init("entered", .boolean(isFilter && place.new != nil)))
      members.append(.init("left", .boolean(isFilter && place.new == nil)))
    }
    members.append(.init("origin", .string(origin)))
    return .object(members)
  }

  private var unlogged: JSONValue {
    let members: [JSONValue.Member] = [
      .init("seq", .null), .init("txn", .null), .init("time", .string(TimeText.iso(time))),
      .init("actor", .null),
    ]
    return .object(members + change.journalMembers)
  }

  private var origin: String {
    guard let logged else { return "\(change.origin)" }
    guard let program = logged.transaction.program else { return "foreign" }
    return program == "storecli" ? "cli" : "app"
  }

  /// The line for a person; cut to `width` cells where there is a width.
  func text(palette: Palette, width: Int?) -> String {
    let clock = TimeText.clock(logged?.transaction.time ?? time)
    var notes: [String] = []
    if isSnapshot { notes.append("was there") }
    if isFilter { notes.append(place?.new == nil ? "no longer meets it" : "meets it now") }
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
  /// Without a word on who did it, which stands elsewhere.
  fileprivate var plain: ChangeLine {
    var line = self
    line.origin = .user
    return line
  }
}
