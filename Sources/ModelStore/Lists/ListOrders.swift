/// The writer's state about ordered lists: the order of recently edited lists, and the edits of the
/// running transaction.
///
/// A cached order is valid until something other than an editor writes a row of its list. The
/// preupdate hook detects this; the order is then dropped and read again when needed. Used only on
/// the writer's queue.
final class ListOrders {
  /// One model's lists, as the hook needs them.
  private struct Table {
    let tracked: TrackedTable
    let identity: KeyIdentity
    let owner: StoredColumn
    /// One more than the greatest slot number seen. SQLite reuses numbers at the end, but a number
    /// must not be reused while a list may be observed.
    var nextSlot: Int64 = 0
  }

  /// A value type, so that a savepoint is a copy.
  private struct State {
    var kept: [ListIdentity: Order] = [:]
    var edits: [ListIdentity: ListEdits] = [:]
  }

  private struct Order {
    var places: RankedTree<ListPlace>
    /// The greatest label of the owner's rows that are in no list.
    let lastOutsideLabel: Int64?
    var lastUse: UInt64
  }

  private var state = State()
  /// Not checked for exclusivity at each access, because each statement asks whether there are any.
  /// What changes them calls nothing else meanwhile.
  @exclusivity(unchecked) private var tables: [Table] = []
  private var hooked = HookedTables(names: [])
  /// The slot models whose edits are observed in this transaction.
  private var loggedModels: Set<String> = []
  /// The slot model that an editor is currently writing.
  private var edited: String?
  private var session: (connection: Connection, capture: CaptureSession?)?
  private var isListening = false
  private var clock: UInt64 = 0
  private let slotCountMax: Int

  /// - Parameter slotCountMax: The most places to cache for all lists together. The last edited
  ///   list is always cached. A place takes about 24 bytes.
  init(slotCountMax: Int = 1 << 21) {
    self.slotCountMax = slotCountMax
  }

  /// Takes over the slot models of another schema and drops all cached orders.
  func adopt(_ slots: [(model: SlotModel, table: TrackedTable)]) {
    forget()
    let numbers = Dictionary(
      tables.map { ($0.tracked.schema.name, $0.nextSlot) }, uniquingKeysWith: max)
    tables = slots.compactMap { model, table in
      guard let column = table.storedColumns[model.owner] else { return nil }
      return Table(
        tracked: table, identity: KeyIdentity([table.schema.fields[model.owner]]), owner: column,
        nextSlot: numbers[model.name] ?? 0)
    }
    hooked = HookedTables(names: tables.map(\.tracked.schema.table))
  }

  /// Drops every cached order, after a change of the file that the hook does not see.
  func forget() { state.kept = [:] }

  func identity(of owner: SQLValue, in slots: SlotModel) -> ListIdentity? {
    guard let table = tables.first(where: { $0.tracked.schema.name == slots.name }) else {
      return nil
    }
    return ListIdentity(model: slots.name, owner: table.identity(given: [owner]))
  }
}

// Transactions.
extension ListOrders {
  /// A state to roll back to.
  struct Savepoint {
    private let state: State

    fileprivate init(_ orders: ListOrders) { state = orders.state }

    fileprivate func restore(_ orders: ListOrders) { orders.state = state }
  }

  /// nil if there are no lists. Then nothing is cached, and tables are adopted only between
  /// transactions.
  var savepoint: Savepoint? { tables.isEmpty ? nil : Savepoint(self) }

  func rollBack(to savepoint: Savepoint?) {
    if let savepoint { savepoint.restore(self) } else { state = State() }
    // The rolled back changes may include schema changes.
    forgetTableNames()
  }

  /// - Parameters:
  ///   - capture: The session that captures the transaction's changes. Both share the hook, which
  ///     accepts only one closure.
  ///   - models: The captured models.
  func begin(
    on connection: Connection, beside capture: CaptureSession?, logging models: Set<String>
  ) {
    // Without lists only the capture uses the hook.
    guard !tables.isEmpty else { return }
    session = (connection, capture)
    loggedModels = models
    state.edits = [:]
    if capture != nil || !state.kept.isEmpty { listen() }
  }

  /// - Returns: The edits by list that were not rolled back.
  func end() -> [ListIdentity: ListEdits] {
    guard session != nil else { return [:] }
    if isListening { session?.connection.hooks.onRowChange(nil) }
    isListening = false
    session = nil
    hooked.forget()
    defer { state.edits = [:] }
    return state.edits
  }

  private func listen() {
    guard !isListening, let session else { return }
    isListening = true
    // The closure is removed when the transaction ends, so it retains nothing afterwards.
    session.connection.hooks.onRowChange { [capture = session.capture] row in
      capture?.record(row)
      self.note(row)
    }
  }

  /// Call this after a statement that may have changed the schema.
  func forgetTableNames() { hooked.forget() }

  // The hook. It must not throw and must not use the connection.
  private func note(_ row: borrowing PreupdateRow) {
    guard let number = hooked.number(of: row) else { return }
    if row.operation != .insert { raise(&tables[number].nextSlot, above: row.oldRowID) }
    if row.operation != .delete { raise(&tables[number].nextSlot, above: row.newRowID) }
    // A trigger's changes are not the editor's, even while the editor is writing.
    guard edited != tables[number].tracked.schema.name || row.depth > 0 else { return }
    disturb(row, in: tables[number])
  }

  private func raise(_ next: inout Int64, above slot: Int64) {
    if slot >= next, slot < .max { next = slot + 1 }
  }

  private func disturb(_ row: borrowing PreupdateRow, in table: Table) {
    do {
      if row.operation != .insert { disturb(try row.old(at: table.owner), in: table) }
      if row.operation != .delete { disturb(try row.new(at: table.owner), in: table) }
    } catch {
      // If the owner cannot be read, every list of the model may be affected.
      let name = table.tracked.schema.name
      state.kept = state.kept.filter { $0.key.model != name }
      for list in state.edits.keys where list.model == name { state.edits[list] = .unknown }
    }
  }

  private func disturb(_ owner: SQLValue, in table: Table) {
    disturb(ListIdentity(model: table.tracked.schema.name, owner: table.identity(stored: [owner])))
  }

  /// Drops the state of a list that something other than an editor changed.
  func disturb(_ list: ListIdentity) {
    state.kept[list] = nil
    if isLogged(list) { state.edits[list] = .unknown }
  }
}

// Editing.
extension ListOrders {
  func isLogged(_ list: ListIdentity) -> Bool { loggedModels.contains(list.model) }

  /// - Parameter places: The new places of the slots that were moved explicitly.
  func add(_ edit: ListEdit, moving places: [ListPlace], to list: ListIdentity) {
    guard isLogged(list) else { return }
    state.edits[list, default: ListEdits()].add(edit, moving: places)
  }

  /// Runs `body`, whose changes of `model`'s rows are made by an editor.
  func editing<Result>(_ model: String, _ body: () throws -> Result) rethrows -> Result {
    edited = model
    defer { edited = nil }
    return try body()
  }

  /// Returns a number that no slot of `model` has had since this writer observes it.
  func unusedSlot(of model: String) -> Int64 {
    tables.first { $0.tracked.schema.name == model }?.nextSlot ?? 0
  }

  /// Returns the list's places in order, if they are cached.
  func places(of list: ListIdentity) -> RankedTree<ListPlace>? {
    guard let order = state.kept[list] else { return nil }
    clock += 1
    state.kept[list]?.lastUse = clock
    return order.places
  }

  /// Returns the greatest label of the owner's rows that are in no list, if the order is cached.
  func lastOutsideLabel(of list: ListIdentity) -> Int64? { state.kept[list]?.lastOutsideLabel }

  /// Caches the order of `list`. Both arguments must match the file.
  func keep(
    _ places: RankedTree<ListPlace>, outside lastOutsideLabel: Int64? = nil, of list: ListIdentity
  ) {
    clock += 1
    state.kept[list] = Order(
      places: places, lastOutsideLabel: lastOutsideLabel, lastUse: clock)
    listen()
    var total = state.kept.values.reduce(0) { $0 + $1.places.count + 1 }
    while total > slotCountMax, state.kept.count > 1,
      let oldest = state.kept.min(by: { $0.value.lastUse < $1.value.lastUse })
    {
      total -= oldest.value.places.count + 1
      state.kept[oldest.key] = nil
    }
  }

  /// Applies the places that an editor removed and inserted. Does nothing for a list that is not
  /// cached.
  func change(_ list: ListIdentity, removing: [ListPlace], inserting: [ListPlace]) {
    for place in removing { state.kept[list]?.places.remove(place) }
    for place in inserting {
      state.kept[list]?.places.insert(place)
      if state.edits[list]?.moved[place.slot] != nil {
        state.edits[list]?.moved[place.slot] = place.label
      }
    }
  }

  /// Applies the removal of every slot by an editor.
  func removeAll(of list: ListIdentity) { state.kept[list]?.places = RankedTree() }
}
