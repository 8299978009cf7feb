/// Tells who makes a row change: the running statement, a trigger, a binding, or a foreign key.
///
/// SQLite says how deep inside triggers a change happens and which triggers have started, but not
/// which of them is acting; foreign-key actions start nothing that has a name. So the latest
/// started trigger that can write the table is the one, and without any it was a foreign key.
struct OriginTracker {
  /// What is known of one trigger.
  struct TriggerFacts: Hashable, Sendable {
    var name: String
    /// The binding that the trigger belongs to, if any.
    var binding: String?
    /// The tables its body writes, ASCII letters in lower case.
    var writes: Set<String>
  }

  private let triggers: [String: TriggerFacts]
  private var started: [TriggerFacts] = []

  init(triggers: [TriggerFacts]) {
    self.triggers = Dictionary(
      triggers.map { ($0.name, $0) }, uniquingKeysWith: { first, _ in first })
  }

  /// Whether depth alone can tell apart what there is: without triggers, all depth is foreign keys.
  var needsTriggerNames: Bool { !triggers.isEmpty }

  mutating func statementStarted() {
    started.removeAll(keepingCapacity: true)
  }

  mutating func triggerStarted(_ name: String) {
    guard let facts = triggers[name] else { return }
    started.append(facts)
  }

  /// Who changes a row of `table` at `depth`.
  func origin(depth: Int, table: String) -> Origin {
    if depth == 0 { return .user }
    let name = table.asciiFolded
    guard let trigger = started.last(where: { $0.writes.contains(name) }) else { return .cascade }
    return trigger.binding.map(Origin.binding) ?? .trigger(trigger.name)
  }
}
