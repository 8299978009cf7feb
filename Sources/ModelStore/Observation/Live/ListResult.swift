internal import Synchronization

/// One record's ordered list, kept in order as commits arrive, for all its observers.
///
/// It holds places and keys. A changed slot or element costs O(log n), whatever the size of the
/// list and however often an element occurs in it.
final class ListResult: ChangeBroker.Observer, LivePublisher {
  /// What two observations must have in common to share a result.
  struct Identity: Hashable, Sendable {
    let list: ListIdentity
    let fields: Set<Int>
  }

  /// How rows of the slots' model become slots of the list.
  struct Rule: Sendable {
    let list: ListIdentity
    let slots: SlotModel
    let elements: ModelSchema
    /// The observed fields of elements. If it is empty, elements are not observed.
    let fields: Set<Int>
    let ownerKey: SQLValue
    private let owner: KeyIdentity
    private let element: KeyIdentity

    init(slots: SlotModel, owner: SQLValue, elements: ModelSchema, fields: Set<Int>) {
      let field = slots.schema.fields[slots.owner]
      self.slots = slots
      ownerKey = ColumnAffinity(of: field)?.converted(owner) ?? owner
      self.elements = elements
      self.fields = fields
      self.owner = KeyIdentity([field])
      element = KeyIdentity(elements)
      list = ListIdentity(model: slots.name, owner: self.owner(given: [owner]))
    }

    var identity: Identity { Identity(list: list, fields: fields) }

    /// Slots of this list, and elements of any list.
    var interests: [ChangeBroker.Interest] {
      let records: ChangeBroker.Interest.Records =
        slots.schema.fields[slots.owner].collation == .binary
        ? .having(field: slots.owner, value: QueryRegion.normalized(ownerKey)) : .all
      let slots = ChangeBroker.Interest(model: slots.name, records: records, fields: nil)
      if fields.isEmpty { return [slots] }
      return [slots, ChangeBroker.Interest(model: elements.name, fields: fields)]
    }

    /// Returns the slot that `image` describes; nil when it is in another list.
    func entry(_ image: [SQLValue]) -> ListRows.Entry? {
      guard case .integer(let slot) = image[slots.slot],
        case .integer(let label) = image[slots.label],
        !image[slots.element].isNull,
        owner(stored: [image[slots.owner]]) == list.owner
      else { return nil }
      return ListRows.Entry(
        place: ListPlace(label: label, slot: slot), element: image[slots.element])
    }

    /// Returns the list of these rows.
    ///
    /// - Throws: ``StoreError`` with code `corrupt` when they are not in order.
    func tree(_ images: [[SQLValue]]) throws -> RankedTree<ListRows.Entry> {
      guard let tree = RankedTree(checking: images.compactMap { entry($0) }) else {
        throw slots.disorder
      }
      return tree
    }

    func identity(_ element: SQLValue) -> RecordIdentity { self.element(given: [element]) }

    func identity(of change: RecordChange) -> RecordIdentity? {
      element(changed: change.recordKey)
    }
  }

  /// One slot of an element. The order places the slots of one element next to each other.
  private struct Occurrence: Comparable, Sendable {
    let element: RecordIdentity
    let place: ListPlace

    static func < (left: Occurrence, right: Occurrence) -> Bool {
      left.element == right.element ? left.place < right.place : left.element < right.element
    }
  }

  private struct State {
    var rows: ListRows
    /// Filled only when fields of elements are observed.
    var occurrences: RankedTree<Occurrence>
  }

  let rule: Rule
  let interests: [ChangeBroker.Interest]
  let subscribers = LiveSubscribers<ListDelta>()
  private let state: Mutex<State>
  /// Reads the list again: its slots in order, as of the latest commit.
  private let reload: @Sendable () throws -> [[SQLValue]]
  private let report: @Sendable (StoreError) -> Void

  /// - Parameters:
  ///   - images: The slots of the list, in order, as of `version`.
  ///   - report: Receives the error when the list cannot follow commits for a while.
  /// - Throws: ``StoreError`` with code `corrupt` when the slots are not in order.
  init(
    rule: Rule, images: [[SQLValue]], version: UInt64,
    reload: @escaping @Sendable () throws -> [[SQLValue]],
    report: @escaping @Sendable (StoreError) -> Void
  ) throws {
    self.rule = rule
    self.reload = reload
    self.report = report
    interests = rule.interests
    let tree = try rule.tree(images)
    state = Mutex(
      State(
        rows: ListRows(tree: tree, version: version),
        occurrences: Self.occurrences(in: tree, by: rule)))
  }

  private static func occurrences(
    in tree: RankedTree<ListRows.Entry>, by rule: Rule
  ) -> RankedTree<Occurrence> {
    guard !rule.fields.isEmpty else { return RankedTree() }
    return RankedTree(
      sorted: tree.map { Occurrence(element: rule.identity($0.element), place: $0.place) }.sorted())
  }

  // Called on the committing thread

  func note(_ commit: ChangeBroker.Commit) -> ChangeBroker.Outcome {
    if commit.isReset { return noteReset(version: commit.version) }
    let changes = commit.changes
    let edits = commit.frame.edits[rule.list]
    let changed = changes.compactMap { change in
      change.model == rule.slots.name ? touch(change, edits) : nil
    }
    let delta: ListDelta?? = state.withLock { state in
      // The commits before this one did not concern the list.
      state.rows.version = commit.version - 1
      let old = state.rows
      let touches = changed + Self.returned(edits, in: old, besides: changed)
      guard state.rows.advance(to: commit.version, touches) else { return nil }
      if !rule.fields.isEmpty { update(&state.occurrences, touches) }
      let elements =
        rule.fields.isEmpty
        ? [] : changes.compactMap { elementTouch($0, in: state.occurrences) }
      guard !touches.isEmpty || !elements.isEmpty else { return .some(nil) }
      return ListDelta(
        old: old, new: state.rows, touches: touches, elements: elements,
        operations: edits == nil && touches.isEmpty ? [] : edits?.operations, isReset: false)
    }
    guard let delta else {
      report(
        StoreError(
          .database,
          "An observed list of \(rule.slots.name) was out of date when a slot of it changed; it was read again.",
          model: rule.slots.name))
      return noteReset(version: commit.version)
    }
    guard let delta else { return [] }
    return subscribers.receive(delta)
  }

  private func touch(_ change: RecordChange, _ edits: ListEdits?) -> ListDelta.Touch? {
    let old = change.old.flatMap { rule.entry($0) }
    let new = change.new.flatMap { rule.entry($0) }
    guard let slot = (old ?? new)?.place.slot else { return nil }
    let isMoved =
      edits?.operations == nil
      ? old?.place != new?.place : edits?.moved[slot] != nil
    return ListDelta.Touch(
      slot: slot, old: old, new: new, isMoved: isMoved && old != nil && new != nil,
      isRecreated: change.isRecreated)
  }

  /// Slots that were moved and have their old label again. The labels around them may have changed,
  /// so they may still be at another index.
  private static func returned(
    _ edits: ListEdits?, in old: ListRows, besides changed: [ListDelta.Touch]
  ) -> [ListDelta.Touch] {
    guard let edits, edits.operations != nil, !edits.moved.isEmpty else { return [] }
    let known = Set(changed.map(\.slot))
    return edits.moved.sorted { $0.key < $1.key }.compactMap { slot, label in
      guard !known.contains(slot),
        let entry = old.entry(at: ListPlace(label: label, slot: slot))
      else { return nil }
      return ListDelta.Touch(
        slot: slot, old: entry, new: entry, isMoved: true, isRecreated: false)
    }
  }

  private func update(_ occurrences: inout RankedTree<Occurrence>, _ touches: [ListDelta.Touch]) {
    for case let old? in touches.map(\.old) {
      occurrences.remove(Occurrence(element: rule.identity(old.element), place: old.place))
    }
    for case let new? in touches.map(\.new) {
      occurrences.insert(Occurrence(element: rule.identity(new.element), place: new.place))
    }
  }

  private func elementTouch(
    _ change: RecordChange, in occurrences: RankedTree<Occurrence>
  ) -> ListDelta.ElementTouch? {
    guard change.model == rule.elements.name, change.operation == .update else { return nil }
    let fields = change.fields.filter { field in
      rule.elements.fieldIndex(named: field.name).map(rule.fields.contains) ?? false
    }
    guard !fields.isEmpty, let element = rule.identity(of: change) else { return nil }
    let first = Occurrence(element: element, place: ListPlace(label: .min, slot: .min))
    let last = Occurrence(element: element, place: ListPlace(label: .max, slot: .max))
    let end = occurrences.rank(of: last) + (occurrences.contains(last) ? 1 : 0)
    var places: [ListPlace] = []
    occurrences.forEach(in: occurrences.rank(of: first)..<end) { places.append($0.place) }
    guard !places.isEmpty else { return nil }
    return ListDelta.ElementTouch(element: element, fields: fields, places: places)
  }

  private func noteReset(version: UInt64) -> ChangeBroker.Outcome {
    let tree: RankedTree<ListRows.Entry>
    do {
      tree = try rule.tree(try reload())
    } catch {
      report(StoreError(reporting: error))
      return .failed
    }
    let occurrences = Self.occurrences(in: tree, by: rule)
    let delta = state.withLock { state in
      let old = state.rows
      state.rows = ListRows(tree: tree, version: version)
      state.occurrences = occurrences
      return ListDelta(
        old: old, new: state.rows, touches: Self.touches(from: old.tree, to: tree),
        elements: rule.fields.isEmpty ? [] : unknownElements(in: tree), operations: nil,
        isReset: true)
    }
    return subscribers.receive(delta)
  }

  /// Returns every element of the list. The observed fields of each may differ.
  private func unknownElements(
    in tree: RankedTree<ListRows.Entry>
  ) -> [ListDelta.ElementTouch] {
    var places: [RecordIdentity: [ListPlace]] = [:]
    var elements: [RecordIdentity] = []
    for entry in tree {
      let element = rule.identity(entry.element)
      if places[element] == nil { elements.append(element) }
      places[element, default: []].append(entry.place)
    }
    return elements.map { element in
      ListDelta.ElementTouch(
        element: element, fields: [], isUnknown: true, places: places[element] ?? [])
    }
  }

  /// Returns the slots that were inserted, deleted, moved or given another element. Compares both
  /// lists in full.
  private static func touches(
    from old: RankedTree<ListRows.Entry>, to new: RankedTree<ListRows.Entry>
  ) -> [ListDelta.Touch] {
    var left: [Int64: ListRows.Entry] = [:]
    var touches: [ListDelta.Touch] = []
    for entry in old { left[entry.place.slot] = entry }
    for entry in new {
      let before = left.removeValue(forKey: entry.place.slot)
      if let before, before.place == entry.place, before.element == entry.element { continue }
      touches.append(
        ListDelta.Touch(
          slot: entry.place.slot, old: before, new: entry, isMoved: before != nil,
          isRecreated: false))
    }
    for entry in left.values.sorted() {
      touches.append(
        ListDelta.Touch(
          slot: entry.place.slot, old: entry, new: nil, isMoved: false, isRecreated: false))
    }
    return touches
  }

  // Subscribers

  var rows: ListRows { state.withLock { $0.rows } }

  /// Returns the current list as a delta from an empty list.
  ///
  /// - Parameter version: The latest commit's version. No commit can come between.
  func contents(asOf version: UInt64) -> ListDelta {
    var rows = rows
    rows.version = version
    return ListDelta(
      old: ListRows(tree: RankedTree(), version: version), new: rows,
      touches: rows.tree.map {
        ListDelta.Touch(slot: $0.place.slot, old: nil, new: $0, isMoved: false, isRecreated: false)
      }, elements: [], operations: nil, isReset: false, isInitial: true)
  }
}
