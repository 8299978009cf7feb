/// Determines the origin of a row change: the running statement, a trigger, a binding, or a foreign
/// key.
///
/// SQLite reports how deep inside triggers a change happens and which triggers have started, but
/// not which of them is running. Foreign-key actions have no name. So the origin is the latest
/// started trigger that can write the table. If there is none, it is a foreign key.
struct OriginTracker {
  /// The facts about one trigger.
  struct TriggerFacts: Hashable, Sendable {
    var name: String
    /// The binding that the trigger belongs to, if any.
    var binding: String?
    /// The tables that its body writes, with ASCII letters in lower case.
    var writes: Set<String>
  }

  private let triggers: [String: TriggerFacts]
  private var started: [TriggerFacts] = []

  init(triggers: [TriggerFacts]) {
    self.triggers = Dictionary(
      triggers.map { ($0.name, $0) }, uniquingKeysWith: { first, _ in first })
  }

  /// Whether depth alone is not enough. Without triggers, all depth is foreign keys.
  var needsTriggerNames: Bool { !triggers.isEmpty }

  mutating func statementStarted() {
    started.removeAll(keepingCapacity: true)
  }

  mutating func triggerStarted(_ name: String) {
    guard let facts = triggers[name] else { return }
    started.append(facts)
  }

  /// Returns the origin of a change of a row of `table` at `depth`.
  func origin(depth: Int, table: String) -> Origin {
    if depth == 0 { return .user }
    let name = table.asciiFolded
    guard let trigger = started.last(where: { $0.writes.contains(name) }) else { return .cascade }
    return trigger.binding.map(Origin.binding) ?? .trigger(trigger.name)
  }
}
