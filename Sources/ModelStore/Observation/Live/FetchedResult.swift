internal import Synchronization

/// The rows of a query with their records, read by SQL.
///
/// It is used in two cases. A whole result that no tree can follow is re-executed after each commit
/// that touches it. A window seeks the rows that it lacks.
final class FetchedResult: ChangeBroker.Observer, LiveSource, LivePublisher {
  /// What is read, and how two executions are compared.
  struct Rule: Sendable {
    let schema: ModelSchema
    /// The order. Re-executed queries compare the places of rows by it. Under an
    /// application's own collation, texts count as equal when their bytes are equal.
    let terms: [(field: Int, term: SortTerm)]
    /// Whether a row that left the window may still satisfy the condition.
    let isWindow: Bool

    /// Returns the rows of one execution. A view may contain equal rows, so they are numbered in
    /// order.
    func list(_ images: [[SQLValue]], in window: QueryWindow?) -> RowList {
      var occurrences: [[SQLValue]: Int64] = [:]
      let keyIndices = schema.keyIndices
      let entries = images.map { image in
        var key =
          schema.key.isEmpty ? image : keyIndices.map { image[$0] }
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
    /// By re-executing the query, with the reason.
    case again(reason: String, @Sendable (QueryWindow?) throws -> [[SQLValue]])
    case seeking(SeekingWindow)
  }

  /// The rows of one execution, as of a commit.
  struct Run: Sendable {
    /// Empty once a tree holds the rows.
    var list: RowList
    var version: UInt64

    var rows: LiveRows { LiveRows(list: list, version: version) }
  }

  var keepsOnlyItsWindow: Bool {
    guard case .seeking = method else { return false }
    return state.withLock { $0.tree == nil }
  }

  private struct State {
    var run: Run
    /// Holds the rows once a window has become too large to seek them.
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
  ///   - run: The current rows.
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
    // Read under one lock: the list is emptied at the moment the tree is set.
    let (tree, rows) = state.withLock { ($0.tree, $0.run.rows) }
    return tree?.shown.rows ?? rows
  }

  var images: [[SQLValue]]? { state.withLock { $0.tree == nil ? $0.run.list.images : nil } }

  var readsFile: Bool { true }

  var mayReadFile: Bool { true }

  var extendsCascade: Bool { true }

  // Called on the committing thread

  func note(_ commit: ChangeBroker.Commit) -> ChangeBroker.Outcome {
    // In this observer's turn, because groups of queries were registered after it.
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
              try seeking.rows(after: commit.changes, from: old.list, in: $0)
            }
          }
        }
    } catch {
      report(StoreError(reporting: error))
      return .failed
    }
    guard let list else { return [] }
    var before = old
    if !commit.isReset { before.version = commit.version - 1 }
    let new = Run(list: list, version: commit.version)
    state.withLock { $0.run = new }
    return tell(before, new, shown: new.rows, commit)
  }

  /// Shows another part of the same result. This changes the window without a commit.
  ///
  /// - Throws: Any error from reading. The window then stays where it is.
  /// - Precondition: Called on the committing thread, for a window.
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
      ChangeBroker.Commit.Frame(version: old.version), .several([]), isReset: false)
    return tell(old, new, shown: shown, commit)
  }

  /// Forwards the deltas of a window that only this result owns.
  private func follow(_ window: WindowResult) {
    // No other object holds it, so its subscribers end with it.
    _ = window.subscribe(
      LiveSubscriber(
        receive: { [weak self] delta in self?.subscribers.receive(delta) ?? [] },
        wake: { [weak self] in self?.wake(upTo: $0) }))
  }

  /// - Parameter shown: The rows of `new`, or of the tree that replaced them.
  private func tell(
    _ old: Run, _ new: Run, shown: LiveRows, _ commit: ChangeBroker.Commit
  ) -> ChangeBroker.Outcome {
    let touches = rule.touches(
      from: old.list, to: new.list,
      changes: FewByKey(commit.changes.filter { $0.model == rule.schema.name }),
      origin: commit.isReset ? .foreign : nil)
    guard !touches.isEmpty else { return [] }
    // Both images of every row are known, so a reset is as exact as any other commit.
    return subscribers.receive(
      QueryDelta(old: old.rows, new: shown, touches: touches, isReset: false))
  }
}

extension FetchedResult.Rule {
  /// Returns the differences between two executions.
  ///
  /// - Parameters:
  ///   - changes: The known record changes in between.
  ///   - origin: The origin of every change; nil to take it from `changes`.
  func touches(
    from old: RowList, to new: RowList, changes: FewByKey<RecordChange>, origin: Origin?
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
    return RowPairs(from: old, to: new).differing.map { touch($0.old, $0.new) }
  }

  /// Returns the standing of a record that is not in the result.
  ///
  /// - Parameter exists: Whether the record exists; nil if the commit does not contain it.
  private func standing(_ exists: Bool?) -> QueryDelta.Touch.Standing {
    if exists == false { return .absent }
    // A row that the commit did not touch moved across the edge of the window, if there is one. A
    // row of a view is derived from other rows, so it appeared or disappeared with them.
    if exists == nil, isWindow { return .admitted }
    return exists == nil && schema.kind == .view ? .absent : .excluded
  }
}
