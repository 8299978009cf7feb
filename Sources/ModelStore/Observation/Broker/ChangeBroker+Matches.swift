extension ChangeBroker {
  /// The observers that a commit concerns, each with the changes that concern it.
  ///
  /// A thousand queries may each have a thousand changes. So adding a change takes the same time
  /// however many there are, and only the observers are sorted.
  struct Matches {
    /// Why a commit without changes for an observer concerns it.
    enum Reason: Int {
      /// It is reset.
      case reset = -2
      /// It may have noted something else, and takes part without changes.
      case nothing = -1
    }

    /// Changes of an observer, or another reason. An observer may have several matches.
    private struct Match {
      let number: UInt64
      let observer: any Observer
      /// The place of the first change in the commit, or a ``Reason``.
      let first: Int
      /// The place of the second change in ``links``, and of the last one; -1 if there is one.
      var second = -1
      var last = -1
      /// The number of changes.
      var count: Int

      static func isOrdered(_ left: Match, _ right: Match) -> Bool {
        (left.number, left.first) < (right.number, right.first)
      }
    }

    /// A further change of a match.
    private struct Link {
      let change: Int
      /// The place of the next change of the same match; -1 for none.
      var next: Int
    }

    private var matches: ContiguousArray<Match> = []
    private var links: ContiguousArray<Link> = []
    private var isSorted = true

    var isEmpty: Bool { matches.isEmpty }

    /// Adds an observer for the change at `place`, which is not before the places added so far.
    mutating func add(_ found: ChangeRoutes.Found, changeAt place: Int) {
      switch found {
      case .seat(let seat): add(seat, changeAt: place)
      case .record(let observer, let number): add(number, observer, place)
      }
    }

    /// Adds an observer of single records.
    mutating func add(_ observer: RecordObserver, _ number: UInt64, _ reason: Reason) {
      add(number, observer, reason.rawValue)
    }

    /// Adds any other observer.
    mutating func add(_ seat: ObserverSeat, _ reason: Reason) {
      guard let observer = seat.observer else { return }
      add(seat.number, observer, reason.rawValue)
    }

    private mutating func add(_ seat: ObserverSeat, changeAt place: Int) {
      let match = seat.match
      guard match < matches.count, matches[match].number == seat.number, matches[match].first >= 0
      else {
        guard let observer = seat.observer else { return }
        seat.match = matches.count
        add(seat.number, observer, place)
        return
      }
      let last = matches[match].last
      if last < 0 { matches[match].second = links.count } else { links[last].next = links.count }
      matches[match].last = links.count
      matches[match].count += 1
      links.append(Link(change: place, next: -1))
    }

    private mutating func add(_ number: UInt64, _ observer: any Observer, _ place: Int) {
      let match = Match(number: number, observer: observer, first: place, count: place < 0 ? 0 : 1)
      if isSorted, let last = matches.last, !Match.isOrdered(last, match) { isSorted = false }
      matches.append(match)
    }

    /// Puts the matches in the order of registration. Afterwards, no change can be added.
    mutating func sort() {
      if !isSorted { matches.sort(by: Match.isOrdered) }
      isSorted = true
    }

    /// Calls `body` once with each observer, its changes, and whether it is reset.
    ///
    /// - Parameter changes: Those of the commit.
    func forEachObserver(
      _ changes: [RecordChange],
      _ body: (
        _ number: UInt64, _ observer: any Observer, _ part: Commit.Part, _ isReset: Bool
      ) -> Void
    ) {
      var start = 0
      while start < matches.count {
        let first = matches[start]
        var end = start + 1
        var count = first.count
        while end < matches.count, matches[end].number == first.number {
          count += matches[end].count
          end += 1
        }
        // The matches of one observer contain each change at most once.
        let part =
          count == changes.count ? .several(changes) : part(of: changes, count, in: start..<end)
        body(first.number, first.observer, part, first.first == Reason.reset.rawValue)
        start = end
      }
    }

    /// Returns the changes of some matches, in the order of the commit.
    private func part(
      of changes: [RecordChange], _ count: Int, in range: Range<Int>
    ) -> Commit.Part {
      if count == 1, range.count == 1 { return .one(changes[matches[range.lowerBound].first]) }
      var part: [RecordChange] = []
      part.reserveCapacity(count)
      for match in matches[range] where match.first >= 0 {
        part.append(changes[match.first])
        var link = match.second
        while link >= 0 {
          part.append(changes[links[link].change])
          link = links[link].next
        }
      }
      return .several(part)
    }
  }
}
