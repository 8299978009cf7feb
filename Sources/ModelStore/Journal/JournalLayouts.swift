internal import Synchronization

/// The layouts of a file: all that its journal's rows are written in, and which of them each
/// model's triggers fill in now.
struct JournalLayouts: Hashable, Sendable {
  /// By number.
  private(set) var all: [Int64: JournalLayout] = [:]
  /// By model.
  private(set) var current: [String: Int64] = [:]
  private var numbers: [JournalLayout: Int64] = [:]
  private var newest = JournalLayout.journalNumber

  init() {}

  /// - Returns: nil when the file has no journal.
  /// - Throws: ``StoreError`` with code `newerFormat` when a newer library wrote one, `corrupt`
  ///   when one is no JSON, or describes rows that a journal cannot have.
  init?(reading connection: Connection) throws {
    guard let rows = try Self.rows(on: connection) else { return nil }
    for row in rows {
      let layout = try Self.layout(row.definition, format: row.format, number: row.number)
      guard layout.isPossible, Self.possibleNumbers.contains(row.number) else {
        throw Self.damaged(row.number, "describes rows that no journal has")
      }
      all[row.number] = layout
      numbers[layout] = row.number
      newest = max(newest, row.number)
      if row.isCurrent { current[layout.model] = row.number }
    }
  }

  private struct Row {
    let number: Int64
    let isCurrent: Bool
    let format: Int64
    let definition: String
  }

  /// - Returns: nil when the file has no journal.
  private static func rows(on connection: Connection) throws -> [Row]? {
    do {
      return try connection.rows(
        "SELECT number, is_current, format, definition FROM main._ms_journal_layouts"
      ) { row in
        Row(
          number: try row.integer(at: 0), isCurrent: try row.integer(at: 1) == 1,
          format: try row.integer(at: 2), definition: try row.text(at: 3))
      }
    } catch let error as SQLiteError
      where error.message == "no such table: main._ms_journal_layouts"
    {
      return nil
    }
  }

  /// Numbers are given by counting, so a greater one was written by another program.
  private static let possibleNumbers: ClosedRange<Int64> = 1...(1 << 32)

  /// Layouts that were decoded in this process, by their texts: they are read for each commit of
  /// others.
  private static let known = Mutex<[ExactText: JournalLayout]>([:])
  private static let knownCountMax = 4_096

  func layout(of model: String) -> JournalLayout? {
    current[model].flatMap { all[$0] }
  }

  private static func layout(
    _ definition: String, format: Int64, number: Int64
  ) throws(StoreError) -> JournalLayout {
    guard format <= CatalogText.format else { throw newer("format \(format)") }
    if let known = known.withLock({ $0[ExactText(definition)] }) { return known }
    do {
      let layout: JournalLayout = try CatalogText.entry(from: definition)
      known.withLock { known in
        if known.count >= knownCountMax { known.removeAll() }
        known[ExactText(definition)] = layout
      }
      return layout
    } catch {
      guard error.isDamage else { throw newer(error.reason) }
      throw damaged(number, "is no JSON")
    }
  }

  private static func damaged(_ number: Int64, _ reason: String) -> StoreError {
    StoreError(
      .corrupt,
      "What the file says of the layout \(number) of its change journal \(reason), so it was damaged or edited by hand. Restore a backup; nothing was changed."
    )
  }

  private static func newer(_ reason: String) -> StoreError {
    StoreError(
      .newerFormat,
      "The file keeps its change journal in a way that this version of ModelStore does not know (\(reason)). Update this program; nothing was changed."
    )
  }

  /// Makes `layout` the one that its model's triggers fill in, here and not in the file:
  /// ``entering(_:as:)`` does it there.
  ///
  /// - Returns: Its number.
  mutating func enter(_ layout: JournalLayout) -> Int64 {
    let number = numbers[layout] ?? newest + 1
    all[number] = layout
    numbers[layout] = number
    newest = max(newest, number)
    current[layout.model] = number
    return number
  }

  /// The statements that make `layout` the current one of its model in the file.
  static func entering(_ layout: JournalLayout, as number: Int64) throws -> [SQLText] {
    [
      leaving(layout.model),
      """
      INSERT INTO _ms_journal_layouts (number, model, is_current, format, definition)
      VALUES (
        \(number), \(layout.model), 1, \(CatalogText.format), \(try CatalogText.text(of: layout))
      )
      ON CONFLICT (number) DO UPDATE SET is_current = 1
      """,
    ]
  }

  /// The statement that leaves `model` without a current layout in the file.
  static func leaving(_ model: String) -> SQLText {
    "UPDATE _ms_journal_layouts SET is_current = 0 WHERE model = \(model)"
  }
}
