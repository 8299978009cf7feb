/// A place in a store's change journal. A copy of the records keeps it, to continue from there.
package struct JournalBookmark: Hashable, Sendable {
  package let position: JournalPosition
  /// The hash of the row at the position, 0 if it has none. If the journal has another row there,
  /// the file is another one, or an older copy of it was restored. Only a change of another program
  /// with exactly the same values would look the same.
  package let hash: Int64

  package init(position: JournalPosition, hash: Int64) {
    self.position = position
    self.hash = hash
  }

  /// - Precondition: The file has a journal.
  fileprivate init(at position: Int64, on connection: Connection) throws {
    var hash = StableHash()
    let row = try JournalReader.row(at: position, on: connection)
    if let row { hash.add(row) }
    self.init(
      position: JournalPosition(rawValue: position), hash: row == nil ? 0 : hash.integer)
  }
}

/// How a change journal relates to a bookmark.
package enum JournalContinuation: Hashable, Sendable {
  /// It lacks entries since, or has another row there.
  case none
  /// It has the same row there, but another file could have it, too.
  case plausible
  /// It has the same commit record there, which no other file has.
  case certain
}

/// Which records changed between two states of a store.
package struct ChangedRecords: Hashable, Sendable {
  /// The keys of the records, by model.
  package var keys: [String: Set<[SQLValue]>] = [:]
  /// Models of which changes may be missing here: their journal was off for a while, or has keys
  /// that cannot be read.
  package var incomplete: Set<String> = []

  package init() {}

  package var isEmpty: Bool { keys.isEmpty && incomplete.isEmpty }
}

extension TransactionReads where Self: ~Copyable {
  /// The end of the change journal in this state.
  ///
  /// - Throws: ``StoreError`` with code `misuse` if the file has no journal.
  package borrowing func journalBookmark() throws -> JournalBookmark {
    guard let end = try JournalReader.end(on: access.connection) else {
      throw StoreError(
        .misuse, "This file has no change journal. Turn it on: storecli journal on.")
    }
    return try JournalBookmark(at: end, on: access.connection)
  }

  /// Whether the change journal has every entry since a bookmark.
  package borrowing func journalContinuation(
    from bookmark: JournalBookmark
  ) throws -> JournalContinuation {
    let connection = access.connection
    let position = bookmark.position.rawValue
    guard let history = try JournalHistory(reading: connection) else {
      return position == 0 ? .plausible : .none
    }
    guard history.bounds.lowerBound - 1...history.bounds.upperBound ~= position,
      try JournalBookmark(at: position, on: connection) == bookmark
    else { return .none }
    let mark = try history.lastMark(through: position)
    return mark?.position == position ? .certain : .plausible
  }

  /// Calls `body` with the records that changed since an earlier state, a part at a time. A record
  /// that changed several times may be in several parts.
  ///
  /// - Parameters:
  ///   - bookmark: Of a state from which the journal continues.
  ///   - limit: How many entries of the journal are read for a part.
  /// - Returns: Whether the entries can be read. If not, changes are missing.
  /// - Throws: What `body` throws; ``StoreError`` with code `corrupt` if entries are missing.
  package borrowing func forEachChange(
    since bookmark: JournalBookmark, limit: Int = 10_000, _ body: (ChangedRecords) throws -> Void
  ) throws -> Bool {
    guard let history = try JournalHistory(reading: access.connection) else { return true }
    let start = bookmark.position.rawValue
    var part = ChangedRecords()
    var count = 0
    var last = start
    do {
      try history.reader.forEachEntry(after: start, through: history.bounds.upperBound) {
        part.add($0.content, history.layouts)
        last = $0.position
        count += 1
        if count % limit == 0, !part.isEmpty {
          try body(part)
          part = ChangedRecords()
        }
        return true
      }
    } catch let error as StoreError where error.code == .journalGap {
      return false
    }
    // A damaged page can end the rows early.
    guard last == history.bounds.upperBound else { throw JournalReader.disordered(last) }
    if !part.isEmpty { try body(part) }
    return true
  }

  /// The hash of how the journal records a model now; nil if it does not. It changes with the names
  /// of the model and its fields, which leave no entry in the journal.
  package borrowing func journalLayoutHash(of model: String) throws -> Int64? {
    guard let layouts = try JournalLayouts(reading: access.connection),
      let number = layouts.current[model], let layout = layouts.all[number]
    else { return nil }
    var hash = StableHash()
    hash.add(number)
    for field in layout.key + layout.others {
      hash.add(field.name)
      hash.add(field.column)
    }
    return hash.integer
  }
}

extension ChangedRecords {
  fileprivate mutating func add(_ content: JournalEntry.Content, _ layouts: JournalLayouts) {
    switch content {
    case .record(let record):
      guard let layout = layouts.all[record.layout] else { return }
      let isReadable = record.malformedTexts.allSatisfy { place in
        if case .key = place { false } else { true }
      }
      guard isReadable else {
        incomplete.insert(layout.model)
        return
      }
      keys[layout.model, default: []].insert(record.key)
    case .started(let number), .stopped(let number):
      guard let layout = layouts.all[number] else { return }
      incomplete.insert(layout.model)
    case .began, .transaction: break
    }
  }
}
