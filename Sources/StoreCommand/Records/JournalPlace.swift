import ArgumentParser
import ModelStore

/// A place in the change journal as a person names it: behind a position, `88214`; a span before
/// now, `10m`; or a date.
enum JournalPlace: ExpressibleByArgument {
  case behind(JournalPosition)
  case time(Int64)

  init?(argument: String) {
    // A span ago may be written as one: -10m.
    let text = argument.first == "-" ? argument.dropFirst() : argument[...]
    if let number = Int64(argument) {
      guard number >= 0 else { return nil }
      self = .behind(JournalPosition(rawValue: number))
    } else if let span = TimeText.span(String(text)) {
      self = .time(TimeText.now - span)
    } else if let time = TimeText.time(argument) {
      self = .time(time)
    } else {
      return nil
    }
  }

  /// The position behind which everything is wanted.
  ///
  /// - Throws: ``CommandError`` for wrong usage when that lies in the future.
  func position(in journal: ChangeJournal) throws -> JournalPosition {
    switch self {
    case .behind(let position):
      let end = try journal.position()
      guard position <= end else {
        throw CommandError.usage(
          "The journal ends at seq \(end), so nothing follows \(position) yet.",
          hint: "storecli journal status")
      }
      return position
    case .time(let time):
      let now = TimeText.now
      guard time <= now else {
        throw CommandError.usage(
          "\(TimeText.iso(time)) is in the future; it is \(TimeText.iso(now)).")
      }
      // What other programs did has no time: it counts as later than what stands before it.
      let before = try journal.newestTransactions(
        matching: JournalFilter(time: .min..<time), limit: 1)
      return try before.first?.positions.upperBound ?? journal.oldestPlace()
    }
  }
}

extension ChangeJournal {
  /// Where the transaction of a store ends in which `position` lies, or the entry of another
  /// program: a position as of which can be read.
  func settledPlace(of position: JournalPosition) throws -> JournalPosition {
    guard position > .start else { return position }
    do {
      let before = JournalPosition(rawValue: position.rawValue - 1)
      let holder = try transactions(after: before, limit: 1).first
      guard let holder, holder.positions.contains(position) else { return position }
      guard holder.isForeign else { return holder.positions.upperBound }
      // A record of many fields takes several positions.
      let entry = try transactions(after: before, through: position, limit: 1).first
      return entry?.positions.upperBound ?? position
    } catch let error as StoreError where error.code == .journalTrimmed {
      // Whoever reads there is told.
      return position
    }
  }

  /// The position behind which everything stands that is kept.
  func oldestPlace() throws -> JournalPosition {
    let first = try transactions(limit: 1).first?.positions.lowerBound
    return try first.map { JournalPosition(rawValue: $0.rawValue - 1) } ?? position()
  }
}
