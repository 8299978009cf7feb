import ArgumentParser
import ModelStore

/// A position in the change journal as a person writes it: `88214`; a span before now, `10m`; or a
/// date.
enum JournalPlace: Equatable {
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

  /// The accepted values, for error messages.
  static let forms = "a position (0 or more), a span such as 10m, or a date"

  /// Reads the value of `option`.
  static func reading(_ option: String) -> @Sendable (String) throws -> JournalPlace {
    { text in
      guard let place = JournalPlace(argument: text) else {
        throw ValidationError("\(option) takes \(forms); got \(text).")
      }
      return place
    }
  }

  /// The position as part of a sentence.
  var words: String {
    switch self {
    case .behind(let position): "at position \(position)"
    case .time(let time): "at \(TimeText.iso(time))"
    }
  }

  /// The position as of which records are read.
  func settledPosition(in journal: ChangeJournal) throws -> JournalPosition {
    let position = try position(in: journal)
    guard case .behind = self else { return position }
    return try journal.settledPlace(of: position)
  }

  /// The position after which changes are wanted.
  ///
  /// - Throws: ``CommandError`` for wrong usage when that lies in the future.
  func position(in journal: ChangeJournal) throws -> JournalPosition {
    switch self {
    case .behind(let position):
      let end = try journal.position()
      guard position <= end else {
        throw CommandError.usage(
          "The journal ends at position \(end); there is no \(position) yet.",
          hint: "storecli journal status")
      }
      return position
    case .time(let time):
      let now = TimeText.now
      guard time <= now else {
        throw CommandError.usage(
          "\(TimeText.iso(time)) is in the future; it is \(TimeText.iso(now)).")
      }
      // Changes of programs without ModelStore have no time. They count as later than the change
      // before them.
      let before = try journal.newestTransactions(
        matching: JournalFilter(time: .min..<time), limit: 1)
      return try before.first?.positions.upperBound ?? journal.oldestPlace()
    }
  }
}

extension ChangeJournal {
  /// Returns the end of the transaction that contains `position`, or the end of the entry of
  /// another program: a position as of which records can be read.
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
      // The read that follows reports it.
      return position
    }
  }

  /// Returns the position before the oldest entry.
  func oldestPlace() throws -> JournalPosition {
    let first = try transactions(limit: 1).first?.positions.lowerBound
    return try first.map { JournalPosition(rawValue: $0.rawValue - 1) } ?? position()
  }
}
