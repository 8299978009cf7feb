/// How a file's change journal stands when a transaction begins that changes bindings, rules or
/// tables: which triggers are as they should be. Where they still are at its end and are only made
/// anew, because something else came, nothing was missed.
struct JournalStanding {
  private struct Entering {
    let number: Int64
    let triggers: [SchemaObject]
  }

  /// What is entered as it should be, by model.
  private let intact: [String: Entering]
  /// The position of the journal's newest row.
  private let end: Int64

  /// - Parameter models: All models of the file.
  /// - Returns: nil when the file has no journal.
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

  /// Whether every change of a model's records was entered since, one after the other.
  ///
  /// - Parameters:
  ///   - number: That of the model's `layout` now.
  ///   - journal: That of the file now.
  func hasMissedNothing(
    of layout: JournalLayout, _ number: Int64, now journal: CompiledJournal,
    on connection: Connection
  ) throws -> Bool {
    guard let entering = intact[layout.model], entering.number == number,
      entering.triggers.allSatisfy(journal.holds)
    else { return false }
    // What a trigger that is newer than the journal's did to a record, in answer to another change
    // of it, was entered before that.
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
