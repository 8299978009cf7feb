internal import Synchronization

/// Several conditions on fields of records and drafts with one verdict, such as whether a form can
/// be submitted.
///
/// A gate decides about a form, not about the file. For a condition that must hold for every
/// writer, declare a rule or a validator. You can also make a write depend on a gate
/// (`Store.write(if:_:)`).
///
/// ```swift
/// let gate = try Gate(
///   GateCheck("title", of: draft, \.title, "must not be empty") { !$0.isEmpty },
///   GateCheck("length", of: draft, \.milliseconds) { $0 > 0 })
/// let watching = gate.observe { verdict in button.isEnabled = verdict.isValid }
/// ```
/// Conditions are evaluated after each change; call ``validate()`` to evaluate them on demand. Each
/// change of an observed field produces one verdict, even if the verdict is the same. A commit, or
/// setting a whole draft, counts as one change. Conditions whose fields changed are evaluated
/// first, then the others in the order of declaration, and last the overall rule. Evaluation stops
/// as soon as the result is known.
///
/// Changes of drafts are evaluated on the thread that makes them, changes of records on the store's
/// delivery queue. Evaluations never overlap: a thread that is evaluating also evaluates changes
/// that arrive meanwhile. The gate ends when it is released, and when a store whose records it
/// observes is closed. It does not keep a store open.
public final class Gate: Sendable {
  /// The result of evaluating the conditions.
  public struct Verdict: Hashable, Sendable {
    /// A condition that is not met.
    public struct Failure: Hashable, Sendable {
      /// The name of the check.
      public let name: String
      /// The requirement.
      public let message: String
    }

    /// Whether the conditions are met, according to the reduction and the overall rule.
    public let isValid: Bool
    /// The first evaluated condition that failed. Nil when the gate is valid, and when the overall
    /// rule failed.
    public let failed: Failure?
    /// The names of the conditions whose fields changed, in the order of declaration. Empty for an
    /// evaluation on demand.
    public let changed: [String]
  }

  /// How the results of the conditions are combined.
  public enum Reduction: Sendable {
    /// Requires every condition. Evaluation stops at the first one that fails.
    case all
    /// Requires one condition. Evaluation stops at the first one that is met.
    case any
    /// Requires this number of conditions. Evaluation stops when the result is known.
    case atLeast(Int)
    /// Requires that the weights of the met conditions reach this sum; see
    /// ``GateCheck/weighing(_:)``. Evaluation stops when the result is known.
    case weight(atLeast: Double)
    /// Passes all results to the closure, in the order of declaration. Checks without a predicate
    /// are not included.
    case custom(@Sendable ([Bool]) -> Bool)
  }

  private struct State {
    /// By condition; nil for a missing value.
    var cells: [GateCondition.Cell?]
    var latest: Verdict?
    /// The number of changes processed.
    var changeCount = 0
    var observers: [VerdictOutlet] = []
    /// Closures that end the observation of drafts and records; nil once the gate has ended.
    var sources: [@Sendable () -> Void]? = []
  }

  let conditions: [GateCondition]
  private let evaluation: GateEvaluation
  // Never held while a caller's code runs.
  private let state: Mutex<State>
  private let calls = OrderedCalls<Change>()

  /// The values that conditions have after one change.
  private typealias Change = [(index: Int, cell: GateCondition.Cell?)]

  /// - Parameters:
  ///   - checks: The conditions, in the order in which they are evaluated.
  ///   - reduction: How their results are combined.
  /// - Throws: ``StoreError`` when a record cannot be observed or read; with code `misuse` inside a
  ///   write, where records are not yet committed.
  public convenience init<each Value: Sendable>(
    _ checks: repeat GateCheck<each Value>, reduction: Reduction = .all
  ) throws {
    try self.init(Self.conditions(of: repeat each checks), reduction, overall: nil)
  }

  /// - Parameters:
  ///   - checks: The conditions, in the order in which they are evaluated.
  ///   - reduction: How their results are combined.
  ///   - overall: A last condition on all values, evaluated when the others are met.
  /// - Throws: ``StoreError`` when a record cannot be observed or read; with code `misuse` inside a
  ///   write, where records are not yet committed.
  public convenience init<each Value: Sendable>(
    _ checks: repeat GateCheck<each Value>, reduction: Reduction = .all,
    overall: @escaping @Sendable (repeat each Value) -> Bool
  ) throws {
    try self.init(
      Self.conditions(of: repeat each checks), reduction, overall: Self.erased(overall))
  }

  private init(
    _ conditions: [GateCondition], _ reduction: Reduction,
    overall: (@Sendable ([any Sendable]) -> Bool)?
  ) throws {
    self.conditions = conditions
    evaluation = GateEvaluation(conditions: conditions, reduction: reduction, overall: overall)
    state = Mutex(State(cells: Array(repeating: nil, count: conditions.count)))
    try begin()
  }

  private static func conditions<each Value: Sendable>(
    of checks: repeat GateCheck<each Value>
  ) -> [GateCondition] {
    var conditions: [GateCondition] = []
    repeat conditions.append((each checks).condition)
    return conditions
  }

  private struct MissingValue: Error {}

  /// Returns the overall rule without its types.
  private static func erased<each Value: Sendable>(
    _ overall: @escaping @Sendable (repeat each Value) -> Bool
  ) -> @Sendable ([any Sendable]) -> Bool {
    { values in
      var index = 0
      func next<Next>(_ type: Next.Type) throws -> Next {
        defer { index += 1 }
        guard let value = values[index] as? Next else { throw MissingValue() }
        return value
      }
      do {
        return overall(repeat try next((each Value).self))
      } catch {
        // A missing value meets no condition.
        return false
      }
    }
  }

  deinit { end() }

  /// The latest verdict; nil before the first one. You can read it at any time, on any thread.
  public var latest: Verdict? { state.withLock { $0.latest } }

  /// Reads the current value of all fields and evaluates the conditions in the order of
  /// declaration, until the result is known.
  ///
  /// The verdict becomes ``latest``, unless a change arrives meanwhile. Observers are not called,
  /// because nothing changed.
  ///
  /// - Throws: ``StoreError`` when records cannot be read.
  public func validate() throws -> Verdict {
    let changeCount = state.withLock { $0.changeCount }
    let verdict = try verdict { store, places in try store.read(places) }.verdict
    state.withLock { state in
      // A change that arrived meanwhile produces a later verdict.
      if state.changeCount == changeCount { state.latest = verdict }
    }
    return verdict
  }

  /// Calls `body` with each later verdict, one for each change. While the observation is paused,
  /// only the latest verdict is kept. While a call runs, at most 1024 verdicts wait; beyond that
  /// the oldest are dropped.
  ///
  /// - Returns: A token to keep: releasing it ends the calls. A write cannot suppress it, because a
  ///   gate is not an observer of a store.
  public func observe(_ body: @escaping @Sendable (Verdict) -> Void) -> ObservationToken {
    observe(body, whenOver: {})
  }

  private func observe(
    _ body: @escaping @Sendable (Verdict) -> Void, whenOver: @escaping @Sendable () -> Void
  ) -> ObservationToken {
    let outlet = VerdictOutlet(body, whenOver: whenOver)
    let isOver = state.withLock { state in
      state.observers.append(outlet)
      return state.sources == nil
    }
    if isOver { whenOver() }
    return ObservationToken(outlet) { [weak self] in
      outlet.end()
      self?.state.withLock { state in state.observers.removeAll { $0 === outlet } }
    }
  }

  /// The later verdicts, for one `for await` loop. If the loop falls behind, it receives only the
  /// latest verdict. The loop ends with the gate.
  public var verdicts: AsyncStream<Verdict> {
    let (stream, continuation) = AsyncStream.makeStream(
      of: Verdict.self, bufferingPolicy: .bufferingNewest(1))
    let subscription = observe({ continuation.yield($0) }, whenOver: { continuation.finish() })
    continuation.onTermination = { _ in subscription.cancel() }
    return stream
  }

  /// Ends the gate: changes produce no further verdicts. ``latest`` keeps its value.
  ///
  /// - Returns: false when it had already ended.
  @discardableResult
  public func end() -> Bool {
    let (sources, observers) = state.withLock { state in
      defer { state.sources = nil }
      return (state.sources, state.observers)
    }
    guard let sources else { return false }
    for end in sources { end() }
    for observer in observers { observer.whenOver() }
    return true
  }
}

// Evaluating and observing.
extension Gate {
  /// Evaluates the conditions with current values.
  ///
  /// - Parameter read: Reads the records at the places, all from one state of the store.
  /// - Returns: The verdict, and the position of the condition that failed.
  func verdict(
    reading read: (GateStore, [GatePlace]) throws -> [[SQLValue]?]
  ) throws -> (verdict: Verdict, failed: Int?) {
    var values: [(any Sendable)?] = Array(repeating: nil, count: conditions.count)
    for (index, condition) in conditions.enumerated() {
      if case .draft(let field) = condition.source {
        values[index] = field.read().flatMap(field.part)
      }
    }
    for part in recordParts {
      let images = try read(part.store, part.places)
      for (index, place, field) in part.fields {
        values[index] = try field.cell(in: images[place])?.value
      }
    }
    return evaluation.verdict(on: values, changed: [])
  }

  /// Returns the violation for a failed condition; nil stands for the overall rule.
  func violation(of failed: Int?) -> Violation {
    let condition = failed.map { conditions[$0] }
    var violation = Violation(
      kind: .gate, model: "", rule: condition?.name ?? "gate",
      message: condition?.message ?? "does not meet the overall rule")
    if case .record(let field) = condition?.source {
      violation.model = field.place.model
      violation.key = field.place.key
      violation.fields = [field.name]
    }
    return violation
  }

  /// The conditions on records of one store.
  private struct RecordPart {
    let store: GateStore
    /// Each record once.
    var places: [GatePlace] = []
    /// The conditions, with the positions of their records among the places.
    var fields: [(index: Int, place: Int, field: GateCondition.RecordField)] = []
  }

  /// In the order of declaration.
  private var recordParts: [RecordPart] {
    var parts: [RecordPart] = []
    for (index, condition) in conditions.enumerated() {
      guard case .record(let field) = condition.source else { continue }
      let part =
        parts.firstIndex { $0.store.identity == field.store.identity } ?? parts.endIndex
      if part == parts.endIndex { parts.append(RecordPart(store: field.store)) }
      let place = parts[part].places.firstIndex(of: field.place) ?? parts[part].places.endIndex
      if place == parts[part].places.endIndex { parts[part].places.append(field.place) }
      parts[part].fields.append((index, place, field))
    }
    return parts
  }

  private func begin() throws {
    do {
      // Changes that arrive meanwhile are processed once all initial values are known.
      calls.pause(keeping: .max)
      beginDrafts()
      for part in recordParts { try begin(part) }
      calls.resume(receive)
    } catch {
      end()
      throw error
    }
  }

  private func beginDrafts() {
    var parts: [(draft: ObjectIdentifier, fields: [(index: Int, field: GateCondition.DraftField)])]
    parts = []
    for (index, condition) in conditions.enumerated() {
      guard case .draft(let field) = condition.source else { continue }
      let part = parts.firstIndex { $0.draft == field.draft } ?? parts.endIndex
      if part == parts.endIndex { parts.append((field.draft, [])) }
      parts[part].fields.append((index, field))
    }
    for (_, fields) in parts {
      @Sendable func cells(_ whole: any Sendable) -> Change {
        fields.map { index, field in
          (index, field.part(whole).map { GateCondition.Cell(value: $0, stored: nil) })
        }
      }
      let (whole, end) = fields[0].field.observe { [weak self] in self?.put(cells($0)) }
      state.withLock { state in
        state.sources?.append(end)
        for change in whole.map(cells) ?? [] { state.cells[change.index] = change.cell }
      }
    }
  }

  private func begin(_ part: RecordPart) throws {
    @Sendable func cells(_ images: [Int: [SQLValue]?]) -> Change {
      part.fields.compactMap { index, place, field in
        guard let image = images[place] else { return nil }
        do {
          return (index, try field.cell(in: image))
        } catch {
          // Other fields of the commit are still processed; this condition counts as not met.
          part.store.report(error)
          return (index, nil)
        }
      }
    }
    let feed = GateFeed(
      store: part.store, places: part.places,
      fields: part.places.indices.map { place in
        Set(part.fields.filter { $0.place == place }.map(\.field.index))
      }
    ) { [weak self] images in self?.put(cells(images)) }
    // Conditions on records of a closed store would never change again.
    let leave = part.store.whenOver(part.places) { [weak self] in self?.end() }
    state.withLock { state in
      state.sources?.append {
        leave()
        feed.end()
      }
    }
    try part.store.begin(feed) { images in
      let cells = try part.fields.map { index, place, field in
        (index, try field.cell(in: images[place]))
      }
      state.withLock { state in
        for (index, cell) in cells { state.cells[index] = cell }
      }
    }
  }

  private func put(_ change: Change) {
    calls.put(change, receive)
  }

  /// Processes one change: stores the values, evaluates and notifies, unless nothing differs.
  private func receive(_ change: Change) {
    let known = state.withLock { $0.cells }
    var cells = known
    var changed: [Int] = []
    // Calls are serialized, and the values are compared outside the lock.
    for (index, cell) in change where !conditions[index].isSame(known[index], cell) {
      cells[index] = cell
      changed.append(index)
    }
    let replaced: [GateCondition.Cell?]? = state.withLock { state in
      guard state.sources != nil, !changed.isEmpty else { return nil }
      let replaced = state.cells
      state.cells = cells
      state.changeCount += 1
      return replaced
    }
    // Released outside the lock, with values to which it holds the last reference.
    guard replaced != nil else { return }
    let verdict = evaluation.verdict(on: cells.map { $0?.value }, changed: changed.sorted()).verdict
    let observers = state.withLock { state in
      state.latest = verdict
      return state.observers
    }
    for observer in observers { observer.tell(verdict) }
  }
}
