/// The state of a file's change journal at the beginning of a transaction that changes bindings,
/// rules or tables.
///
/// It records which triggers are intact. If they are still intact at the end, and are recreated
/// only because the order of triggers changed, the journal has missed nothing.
struct JournalStanding {
  private struct Entering {
    let number: Int64
    var triggers: [SchemaObject]
  }

  /// The models with intact triggers.
  private var intact: [String: Entering]
  /// The position of the journal's newest row.
  private let end: Int64

  /// - Parameter models: All models of the file.
  /// - Returns: nil if the file has no journal.
  /// - Precondition: The transaction is open.
  init?(reading connection: Connection, models: [ModelSchema]) throws {
    guard let layouts = try JournalLayouts(reading: connection) else { return nil }
    let journal = CompiledJournal(layouts, of: models, in: try Catalog(reading: connection))
    var intact: [String: Entering] = [:]
    for name in journal.intactModels {
      guard let number = layouts.current[name] else { continue }
      intact[name] = Entering(number: number, triggers: journal.triggers(of: [name]))
    }
    self.intact = intact
    end = try JournalReader.bounds(on: connection)?.upperBound ?? 0
  }

  /// The same state, after models were renamed.
  ///
  /// Renaming changes the texts of triggers, and no records. So the present triggers count.
  func renamed(by renaming: ModelRenaming, on connection: Connection) throws -> JournalStanding {
    let present = Dictionary(
      grouping: try InstalledObjects.ofJournal(in: connection).objects
    ) { $0.owner?.name ?? "" }
    var standing = self
    standing.intact = [:]
    for (name, entering) in intact {
      standing.intact[renaming.model(name)] = Entering(
        number: entering.number, triggers: present[name] ?? [])
    }
    return standing
  }

  /// Whether the triggers of a model's current layout were intact, before all were dropped.
  func wasIntact(_ layout: JournalLayout, _ number: Int64) -> Bool {
    intact[layout.model]?.number == number
  }

  /// Whether the journal has recorded every change of a model's records since then, in the right
  /// order.
  ///
  /// - Parameters:
  ///   - number: The number of the model's current `layout`.
  ///   - journal: The current journal of the file.
  func hasMissedNothing(
    of layout: JournalLayout, _ number: Int64, now journal: CompiledJournal,
    on connection: Connection
  ) throws -> Bool {
    guard let entering = intact[layout.model], entering.number == number,
      entering.triggers.allSatisfy(journal.holds)
    else { return false }
    // A trigger that is newer than the journal's triggers may have reacted to a change and changed
    // the record again. The journal then recorded the second change first.
    let key = layout.key.indices.map { "c\($0)" }.joined(separator: ", ")
    let twice = try connection.firstRow(
      """
      SELECT 1
      FROM _ms_journal
      WHERE position > \(end) AND layout = \(number)
      AND \(SQLText(sql: JournalCode.isPart0))
      GROUP BY \(SQLText(sql: key))
      HAVING count(*) > 1
      LIMIT 1
      """
    ) { row in try row.integer(at: 0) }
    return twice == nil
  }
}
