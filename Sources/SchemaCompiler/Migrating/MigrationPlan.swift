/// The steps that bring the tables of a file in line with declared models.
///
/// A plan is a value: making it changes nothing. Print it to see what would happen, or check it in
/// a test of your deployment. For example:
///
/// ```
/// rebuild    Todo.title NOT NULL   1204 rows, ~8 ms; keeps 2 indexes, 3 triggers
/// in place   List create table
/// blocked    Todo.owner UNIQUE     Records have the same values. 2 records: Todo 7; Todo 19
/// ```
///
/// With ``StoreConfiguration/SchemaChanges/migrate``, opening a store applies a plan that
/// ``isSafe``.
public struct MigrationPlan: Hashable, Sendable, Codable {
  /// Changes of one table that happen together.
  public struct Step: Hashable, Sendable, Codable {
    /// The model concerned.
    public var model: String
    /// The table of the model.
    public var table: String
    /// The changes, each as a phrase that begins with the model or field: `Todo.title NOT NULL`.
    public var changes: [String]
    /// How the table changes.
    public var action: Action
    /// One sentence for each loss of data. Empty if the step keeps everything.
    public var losses: [String]

    package init(
      model: String, table: String, changes: [String], action: Action, losses: [String] = []
    ) {
      self.model = model
      self.table = table
      self.changes = changes
      self.action = action
      self.losses = losses
    }
  }

  /// How a step changes a table.
  public enum Action: Hashable, Sendable, Codable {
    /// By these SQL statements, without copying records.
    case inPlace(sql: [String])
    /// By a new table, into which all records are copied.
    case rebuild(Rebuild)
    /// Not at all, as long as the obstacle exists.
    case blocked(Obstacle)
  }

  /// A table that is created again under its name, because SQLite cannot change it in place.
  public struct Rebuild: Hashable, Sendable, Codable {
    /// The number of records that are copied.
    public var rowCount: Int
    /// A rough estimate: 250,000 records per second, and a quarter more time for each index.
    public var estimatedSeconds: Double
    /// The text of the new table. It is the text of the old one with the changes edited in, so
    /// comments and constraints that the models do not know stay.
    public var sql: String
    /// The names of the indexes that are created again.
    public var indexes: [String]
    /// The names of the triggers that are created again, in their order.
    public var triggers: [String]
    /// The names of the views that name the table. They are not changed.
    public var views: [String]
    /// The tables with foreign keys to this table. They are not changed.
    public var referringTables: [String]
    /// Whether the highest key that the table ever had is kept, for AUTOINCREMENT.
    public var keepsSequence: Bool

    package init(
      rowCount: Int, sql: String, indexes: [String] = [], triggers: [String] = [],
      views: [String] = [], referringTables: [String] = [], keepsSequence: Bool = false
    ) {
      self.rowCount = rowCount
      self.sql = sql
      self.indexes = indexes
      self.triggers = triggers
      self.views = views
      self.referringTables = referringTables
      self.keepsSequence = keepsSequence
      estimatedSeconds =
        Double(rowCount) / Self.rowCountPerSecond * (1 + 0.25 * Double(indexes.count))
    }

    /// On a computer of 2020 with a local disk.
    private static let rowCountPerSecond = 250_000.0
  }

  /// Why a step cannot happen.
  public struct Obstacle: Hashable, Sendable, Codable {
    /// A sentence with the reason and, where there is one, the remedy.
    public var reason: String
    /// The keys of the first records that violate the new constraints, in key order.
    public var keys: [[SQLValue]]
    /// The number of records that violate them; 0 if the reason is not in the records.
    public var count: Int

    package init(reason: String, keys: [[SQLValue]] = [], count: Int = 0) {
      self.reason = reason
      self.keys = keys
      self.count = count
    }
  }

  /// In the order in which they are applied. A later version may add steps of other kinds.
  public var steps: [Step]
  /// The models of which the change journal will have a gap, because their fields change. The
  /// journal of every other model continues exactly.
  public var journalGaps: [String]

  package init(steps: [Step] = [], journalGaps: [String] = []) {
    self.steps = steps
    self.journalGaps = journalGaps
  }

  /// Whether the tables are as the models declare them.
  public var isEmpty: Bool { steps.isEmpty }

  /// Whether a step is blocked. Such a plan is not applied, not even in part.
  public var isBlocked: Bool {
    steps.contains { if case .blocked = $0.action { true } else { false } }
  }

  /// Whether applying the plan deletes values.
  public var losesData: Bool { steps.contains { !$0.losses.isEmpty } }

  /// Whether a store may apply the plan without asking: nothing is blocked and nothing is lost.
  public var isSafe: Bool { !isBlocked && !losesData }
}

extension MigrationPlan: CustomStringConvertible {
  /// One line for each step, then a line for each loss and each gap in the change journal.
  public var description: String {
    guard !isEmpty else { return "nothing to do" }
    let width = steps.map { $0.changes.joined(separator: ", ").count }.max() ?? 0
    let lines = steps.flatMap { step -> [String] in
      let changes = step.changes.joined(separator: ", ")
      // Longer lists of changes would push the details of all steps out of sight.
      let padding = String(repeating: " ", count: max(0, min(width, 44) - changes.count))
      let details = step.details.map { "\(padding)   \($0)" } ?? ""
      return ["\(step.action.name)\(changes)\(details)"] + step.losses.map { "  loses    \($0)" }
    }
    return (lines + journalGaps.map { "gap        \($0): the change journal begins again" })
      .joined(separator: "\n")
  }
}

extension MigrationPlan.Action {
  /// The kind of action, padded to one width.
  fileprivate var name: String {
    switch self {
    case .inPlace: "in place   "
    case .rebuild: "rebuild    "
    case .blocked: "blocked    "
    }
  }
}

extension MigrationPlan.Step {
  /// What follows the changes on their line.
  fileprivate var details: String? {
    switch action {
    case .inPlace: nil
    case .rebuild(let rebuild): rebuild.details
    case .blocked(let obstacle): obstacle.details(of: model)
    }
  }
}

extension MigrationPlan.Rebuild {
  fileprivate var details: String {
    let kept = [
      Self.counted(indexes.count, "index", "indexes"),
      Self.counted(triggers.count, "trigger", "triggers"),
      Self.counted(views.count, "view", "views"),
      Self.counted(referringTables.count, "referring table", "referring tables"),
      keepsSequence ? "the sequence" : nil,
    ].compactMap(\.self)
    let rows = "\(rowCount) \(rowCount == 1 ? "row" : "rows"), ~\(Self.time(estimatedSeconds))"
    return kept.isEmpty ? rows : "\(rows); keeps \(kept.joined(separator: ", "))"
  }

  private static func counted(_ count: Int, _ one: String, _ many: String) -> String? {
    count == 0 ? nil : "\(count) \(count == 1 ? one : many)"
  }

  private static func time(_ seconds: Double) -> String {
    if seconds < 1 { return "\(max(1, Int((seconds * 1000).rounded(.up)))) ms" }
    if seconds < 120 { return "\(Int(seconds.rounded(.up))) s" }
    return "\(Int((seconds / 60).rounded(.up))) min"
  }
}

extension MigrationPlan.Obstacle {
  fileprivate func details(of model: String) -> String {
    guard count > 0 else { return reason }
    let named = keys.map { key in
      "\(model) \(key.map(\.description).joined(separator: ", "))"
    }
    let others = count > keys.count ? [" and \(count - keys.count) more"] : []
    let records = named.joined(separator: "; ") + others.joined()
    return "\(reason) \(count == 1 ? "1 record" : "\(count) records"): \(records)"
  }
}
