// Which observers a commit concerns.
extension ChangeBroker {
  /// Returns the observers that a commit concerns, with the changes that concern each.
  static func route(
    _ published: ChangeSet, _ announcement: Announcement, in state: inout State
  ) -> Matches {
    var matches = Matches()
    let lastSafe = announcement.isReset ? 0 : announcement.knownObserver
    guard announcement.isHeld else {
      state.failObservers(after: lastSafe)
      routeFollowed(published, announcement, in: &state, to: &matches)
      return matches
    }
    guard !announcement.isFollowed else {
      routeFollowed(published, announcement, in: &state, to: &matches)
      return matches
    }
    // An observer that is reset gets no changes: fields that no observer had asked for may be
    // missing.
    let resetModels = announcement.resetModels
    let failed = state.takeFailed(resetModels: resetModels, &matches)
    if lastSafe < state.nextNumber { state.addObservers(after: lastSafe, to: &matches) }
    for (place, change) in published.changes.enumerated() {
      // Every observer of such a model is reset.
      if !resetModels.isEmpty, resetModels.contains(change.model) { continue }
      state.routes.forEach(of: change) { found in
        guard found.number <= lastSafe, failed.isEmpty || !failed.contains(found.number) else {
          return
        }
        matches.add(found, changeAt: place)
      }
    }
    matches.sort()
    return matches
  }

  /// Routes a commit to the observers that do not need a reset. The others wait for the last commit
  /// that the file contains.
  private static func routeFollowed(
    _ published: ChangeSet, _ announcement: Announcement, in state: inout State,
    to matches: inout Matches
  ) {
    let failed = state.failed
    let lastSafe = announcement.knownObserver
    for (place, change) in published.changes.enumerated() {
      state.routes.forEach(of: change) { found in
        guard found.number <= lastSafe, failed.isEmpty || !failed.contains(found.number) else {
          return
        }
        matches.add(found, changeAt: place)
      }
    }
    matches.sort()
  }
}

extension ChangeBroker.State {
  /// Forgets the observers that could not apply an earlier commit, and matches them and the
  /// observers of `resetModels` with a reset.
  ///
  /// - Returns: The numbers of the observers that are reset, without observers of one record of
  ///   `resetModels`.
  mutating func takeFailed(
    resetModels: Set<String>, _ matches: inout ChangeBroker.Matches
  ) -> Set<UInt64> {
    guard !failed.isEmpty || !resetModels.isEmpty else { return [] }
    var reset = failed
    failed = []
    var hasReset = !reset.isEmpty
    for model in resetModels {
      routes.forEach(ofModel: model) { found in
        hasReset = true
        switch found {
        case .seat(let seat): reset.insert(seat.number)
        case .record(let observer, let number): matches.add(observer, number, .reset)
        }
      }
    }
    var isOfRecords = false
    for number in reset {
      if let seat = observers[number] { matches.add(seat, .reset) } else { isOfRecords = true }
    }
    if isOfRecords {
      routes.forEachRecordObserver { observer, number in
        if reset.contains(number) { matches.add(observer, number, .reset) }
      }
    }
    // A group delivers what its members noted, whichever commit that came from.
    if hasReset {
      for seat in observers.values where seat.observer is QueryGroup {
        matches.add(seat, .nothing)
      }
    }
    return reset
  }

  /// Whether an observer has a higher number than `number`.
  ///
  /// - Complexity: O(all observers) if one was added since.
  func hasObservers(after number: UInt64) -> Bool {
    guard number < nextNumber else { return false }
    var isFound = observers.keys.contains { $0 > number }
    if !isFound { routes.forEachRecordObserver { isFound = isFound || $1 > number } }
    return isFound
  }

  /// Lets the observers with higher numbers than `number` wait for a reset.
  mutating func failObservers(after number: UInt64) {
    guard number < nextNumber else { return }
    for later in observers.keys where later > number { failed.insert(later) }
    var late: [UInt64] = []
    routes.forEachRecordObserver { if $1 > number { late.append($1) } }
    failed.formUnion(late)
  }

  /// Matches the observers with higher numbers than `number` with a reset.
  func addObservers(after number: UInt64, to matches: inout ChangeBroker.Matches) {
    for (later, seat) in observers where later > number { matches.add(seat, .reset) }
    routes.forEachRecordObserver { observer, later in
      if later > number { matches.add(observer, later, .reset) }
    }
  }
}
