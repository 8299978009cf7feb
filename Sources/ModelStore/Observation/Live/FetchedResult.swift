internal import Synchronization

/// The rows of a query with their records, read by SQL: a whole result that is run again after each
/// commit that touches it, because no tree can follow it, or a window that seeks what it lacks.
final class FetchedResult: ChangeBroker.Observer, LiveSource, LivePublisher {
  /// What is read, and how two runs are compared.
  struct Rule: Sendable {
    let schema: ModelSchema
    /// The order. Where the query is run again, only whether two places are equal is asked; under a
    /// collation of the program's own, texts are taken as equal when their bytes are.
    let terms: [(field: Int, term: SortTerm)]
    /// Whether a row that left may still meet the condition.
    let isWindow: Bool

    /// The rows of one run. A view may have equal rows, so their order tells them apart.
    func list(_ images: [[SQLValue]], in window: QueryWindow?) -> RowList {
      var occurrences: [[SQLValue]: Int64] = [:]
      let entries = images.map { image in
        var key =
          schema.key.isEmpty ? image : schema.keyIndices.map { image[$0] }
        if schema.kind == .view {
          let number = occurrences[key, default: 0]
          occurrences[key] = number + 1
          if number > 0 || schema.key.isEmpty { key.append(.integer(number)) }
        }
        var encoder = SortKeyEncoder()
        for (field, term) in terms { encoder.encode(image[field], by: term) }
        for value in key { encoder.encode(value, by: SortTerm()) }
        return LiveRows.Entry(place: SortKey(encoder), key: key)
      }
      return RowList(entries: entries, images: images, window: window)
    }
  }

  /// How the rows after a commit are found.
  enum Method: Sendable {
    /// By running the query again, and why.
    case again(reason: String, @Sendable (QueryWindow?) throws -> [[SQLValue]])
    case seeking(SeekingWindow)
  }

  /// The rows of one run, as of a commit.
  struct Run: Sendable {
    /// Without rows where there is a tree.
    var list: RowList
    var version: UInt64

    var rows: LiveRows { LiveRows(list: list, version: version) }
  }

  private struct State {
    var run: Run
    /// Where the rows are since a window became too large to seek them.
    var tree: (all: LiveResult, shown: WindowResult)?
  }

  let interests: [ChangeBroker.Interest]
  let subscribers = LiveSubscribers<QueryDelta>()
  private let rule: Rule
  private let state: Mutex<State>
  private let method: Method
  private let report: @Sendable (StoreError) -> Void

  /// - Parameters:
  ///   - interests: What the query reads.
  ///   - run: The rows as of now.
  init(
    rule: Rule, method: Method, interests: [ChangeBroker.Interest], run: Run,
    report: @escaping @Sendable (StoreError) -> Void
  ) {
    self.rule = rule
    self.interests = interests
    self.method = method
    self.report = report
    state = Mutex(State(run: run))
  }

  var plan: LivePlan {
    switch method {
    case .again(let reason, _): .requery(reason: reason)
    case .seeking: .incremental
    }
  }

  var models: [String] { interests.map(\.model) }

  private var tree: (all: LiveResult, shown: WindowResult)? { state.withLock { $0.tree } }

  var rows: LiveRows {
    // Both at once: the list is without rows from the moment at which there is a tree.
    let (tree, rows) = state.withLock { ($0.tree, $0.run.rows) }
    return tree?.shown.rows ?? rows
  }

  var images: [[SQLValue]]? { state.withLock { $0.tree == nil ? $0.run.list.images : nil } }

  // Committing thread

  func note(_ commit: ChangeBroker.Commit) -> ChangeBroker.Outcome {
    // In this one's turn, since groups of queries were registered behind it.
    if let tree { return tree.all.note(commit) }
    let old = state.withLock { $0.run }
    let window = old.list.window
    let list: RowList?
    do {
      list =
        switch method {
        case .again(_, let run): rule.list(try run(window), in: window)
        case .seeking(let seeking):
          if commit.isReset, let window {
            try seeking.all(in: window)
          } else {
            try window.flatMap {
              try seeking.rows(after: commit.changes.changes, from: old.list, in: $0)
            }
          }
        }
    } catch {
      report(StoreError(reporting: error))
      return .failed
    }
    guard let list else { return [] }
    var before = old
    if !commit.isReset { before.version = commit.changes.version - 1 }
    let new = Run(list: list, version: commit.changes.version)
    state.withLock { $0.run = new }
    return tell(before, new, shown: new.rows, commit)
  }

  /// Shows another part of the same result, which is a change of the window without a commit.
  ///
  /// - Throws: What reading throws; then the window stays.
  /// - Precondition: On the committing thread; it is a window.
  func move(to window: QueryWindow) throws -> ChangeBroker.Outcome {
    if let tree { return try tree.shown.move(to: window) }
    let list: RowList
    var tree: (all: LiveResult, shown: WindowResult)?
    switch method {
    case .again(_, let run): list = rule.list(try run(window), in: window)
    case .seeking(let seeking):
      list = try seeking.all(in: window)
      if !SeekingWindow.suits(window) { tree = try seeking.onTree(window) }
    }
    let old = state.withLock { $0.run }
    let new = Run(list: list, version: old.version)
    var shown = new.rows
    if let tree {
      shown = tree.shown.rows
      shown.version = old.version
      follow(tree.shown)
    }
    state.withLock { state in
      state.run.list = tree == nil ? list : RowList(entries: [], images: [], window: window)
      state.tree = tree
    }
    let commit = ChangeBroker.Commit(
      changes: ChangeSet(version: old.version, changes: []), isReset: false)
    return tell(old, new, shown: shown, commit)
  }

  /// Hands on what a window of this one's own tells from now on.
  private func follow(_ window: WindowResult) {
    // It is nobody else's, so its subscribers end with it.
    _ = window.subscribe(
      LiveSubscriber(
        receive: { [weak self] delta in self?.subscribers.receive(delta) ?? [] },
        wake: { [weak self] in self?.wake(upTo: $0) }))
  }

  /// - Parameter shown: The rows of `new`, or of the tree that they moved to.
  private func tell(
    _ old: Run, _ new: Run, shown: LiveRows, _ commit: ChangeBroker.Commit
  ) -> ChangeBroker.Outcome {
    var changes: [[SQLValue]: RecordChange] = [:]
    for change in commit.changes.changes where change.model == rule.schema.name {
      changes[change.key] = change
    }
    let touches = rule.touches(
      from: old.list, to: new.list, changes: changes, origin: commit.isReset ? .foreign : nil)
    guard !touches.isEmpty else { return [] }
    // Both records of every row are known, so a reset is as exact as any other commit.
    return subscribers.receive(
      QueryDelta(old: old.rows, new: shown, touches: touches, isReset: false))
  }
}

extension FetchedResult.Rule {
  /// What lies between two runs.
  ///
  /// - Parameters:
  ///   - changes: What happened to records in between, by key, as far as it is known.
  ///   - origin: Who changed everything; nil for who `changes` says.
  func touches(
    from old: RowList, to new: RowList, changes: [[SQLValue]: RecordChange], origin: Origin?
  ) -> [QueryDelta.Touch] {
    func touch(_ oldPlace: Int?, _ newPlace: Int?) -> QueryDelta.Touch {
      func side(_ list: RowList, _ place: Int?) -> QueryDelta.Side? {
        place.map { QueryDelta.Side(entry: list.entries[$0], image: list.images[$0]) }
      }
      let (before, after) = (side(old, oldPlace), side(new, newPlace))
      let key = before?.entry.key ?? after?.entry.key ?? []
      let change = changes[key]
      return QueryDelta.Touch(
        key: key, old: before, new: after, origin: origin ?? change?.origin ?? .user,
        fields: change?.fields ?? [], isRecreated: change?.isRecreated ?? false,
        before: before != nil ? .admitted : standing(change.map { $0.old != nil }),
        after: after != nil ? .admitted : standing(change.map { $0.new != nil }))
    }
    var touches: [QueryDelta.Touch] = []
    for (place, entry) in new.entries.enumerated() {
      let oldPlace = old.places[entry.key]
      if let oldPlace, old.images[oldPlace] == new.images[place] { continue }
      touches.append(touch(oldPlace, place))
    }
    for (place, entry) in old.entries.enumerated() where new.places[entry.key] == nil {
      touches.append(touch(place, nil))
    }
    return touches
  }

  /// Where a record stands that is not in the result.
  ///
  /// - Parameter exists: Whether there is such a record, where the commit tells.
  private func standing(_ exists: Bool?) -> QueryDelta.Touch.Standing {
    if exists == false { return .absent }
    // A row that the commit did not touch slid over an edge, if there is one; a row of a view is
    // made from others, so it came and went with them.
    if exists == nil, isWindow { return .admitted }
    return exists == nil && schema.kind == .view ? .absent : .excluded
  }
}
