extension ChangeBroker {
  /// The observers that a commit concerns, each with the changes that concern it.
  ///
  /// It is one array, whatever the number of observers: an array for each would cost more than the
  /// rest of routing.
  struct Matches {
    /// Why a commit concerns an observer.
    enum Reason {
      /// The change at this place of the commit.
      case change(Int)
      /// It is reset.
      case reset
      /// It may have noted something else, and takes part without changes.
      case nothing

      /// The order among the matches of an observer.
      fileprivate var place: Int {
        switch self {
        case .change(let place): place
        case .nothing: -1
        case .reset: -2
        }
      }
    }

    private struct Match {
      let number: UInt64
      /// See ``Reason/place``.
      let place: Int
      let observer: any Observer

      static func isOrdered(_ left: Match, _ right: Match) -> Bool {
        (left.number, left.place) < (right.number, right.place)
      }
    }

    private var matches: ContiguousArray<Match> = []
    private var isSorted = true

    var isEmpty: Bool { matches.isEmpty }

    /// Adds an observer, unless it is no longer there.
    mutating func add(
      _ found: ChangeRoutes.Found, _ observers: [UInt64: any Observer], _ reason: Reason
    ) {
      let match: Match
      switch found {
      case .record(let observer, let number):
        match = Match(number: number, place: reason.place, observer: observer)
      case .number(let number):
        guard let observer = observers[number] else { return }
        match = Match(number: number, place: reason.place, observer: observer)
      }
      if isSorted, let last = matches.last, !Match.isOrdered(last, match) { isSorted = false }
      matches.append(match)
    }

    /// Puts the matches in the order of registration, and those of an observer in the order of the
    /// commit.
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
        _ number: UInt64, _ observer: any Observer, _ changes: [RecordChange], _ isReset: Bool
      ) -> Void
    ) {
      var start = 0
      while start < matches.count {
        let first = matches[start]
        let isLone =
          first.place >= 0
          && (start + 1 == matches.count || matches[start + 1].number != first.number)
        if isLone {
          let part = changes.count == 1 ? changes : [changes[first.place]]
          body(first.number, first.observer, part, false)
          start += 1
          continue
        }
        var end = start + 1
        while end < matches.count, matches[end].number == first.number { end += 1 }
        let own = matches[start..<end].drop { $0.place < 0 }
        let part: [RecordChange]
        switch own.count {
        case changes.count: part = changes
        case 1: part = [changes[own[own.startIndex].place]]
        default: part = own.map { changes[$0.place] }
        }
        body(first.number, first.observer, part, first.place == Reason.reset.place)
        start = end
      }
    }
  }
}
