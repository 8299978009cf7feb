internal import Synchronization

/// The layouts of a file: all layouts that rows of its journal use, and the current layout of each
/// model.
struct JournalLayouts: Hashable, Sendable {
  /// The layouts by number.
  private(set) var all: [Int64: JournalLayout] = [:]
  /// The number of the current layout, by model.
  private(set) var current: [String: Int64] = [:]
  private var numbers: [JournalLayout: Int64] = [:]
  private var newest = JournalLayout.journalNumber

  init() {}

  /// - Returns: nil if the file has no journal.
  /// - Throws: ``StoreError`` with code `newerFormat` if a newer library wrote a layout, `corrupt`
  ///   if a layout is not JSON or describes impossible rows.
  init?(reading connection: Connection) throws {
    guard let rows = try Self.rows(on: connection) else { return nil }
    for row in rows {
      let layout = try Self.layout(row.definition, format: row.format, number: row.number)
      guard layout.isPossible, Self.possibleNumbers.contains(row.number) else {
        throw Self.damaged(row.number, "describes rows that a journal cannot have")
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

  /// - Returns: nil if the file has no journal.
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

  /// Numbers count upwards, so another program wrote a greater number.
  private static let possibleNumbers: ClosedRange<Int64> = 1...(1 << 32)

  /// The layouts that this process has decoded, by their texts. They are read for each foreign
  /// commit.
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
      throw damaged(number, "is not JSON")
    }
  }

  private static func damaged(_ number: Int64, _ reason: String) -> StoreError {
    StoreError(
      .corrupt,
      "The definition of layout \(number) of the change journal \(reason). The file was damaged or edited by hand. Restore a backup; nothing was changed."
    )
  }

  private static func newer(_ reason: String) -> StoreError {
    StoreError(
      .newerFormat,
      "The change journal of the file has a format that this version of ModelStore does not support (\(reason)). Update this program; nothing was changed."
    )
  }

  /// Makes `layout` the current layout of its model in this value. ``entering(_:as:)`` does so in
  /// the file.
  ///
  /// - Returns: The number of the layout.
  mutating func enter(_ layout: JournalLayout) -> Int64 {
    let number = numbers[layout] ?? newest + 1
    all[number] = layout
    numbers[layout] = number
    newest = max(newest, number)
    current[layout.model] = number
    return number
  }

  /// Returns the statements that make `layout` the current layout of its model in the file.
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

  /// Returns the statement that leaves `model` without a current layout in the file.
  static func leaving(_ model: String) -> SQLText {
    "UPDATE _ms_journal_layouts SET is_current = 0 WHERE model = \(model)"
  }
}

extension JournalLayouts {
  /// Gives the layouts of renamed models their new names in the file.
  ///
  /// - Precondition: A write transaction is open.
  static func rename(by renaming: ModelRenaming, on connection: Connection) throws {
    guard let layouts = try JournalLayouts(reading: connection) else { return }
    let pairs = Dictionary(renaming.pairs.map { ($0.old.name, $0) }) { first, _ in first }
    let taken = Set(renaming.changed.map(\.new.name))
    var changed: [(number: Int64, layout: JournalLayout, isCurrent: Bool)] = []
    for (number, layout) in layouts.all {
      let isCurrent = layouts.current[layout.model] == number
      if let pair = pairs[layout.model] {
        let new = layout.renamed(by: pair)
        if pair.isChanged, new != layout { changed.append((number, new, isCurrent)) }
      } else if taken.contains(layout.model) {
        changed.append((number, layout.displaced, false))
      }
    }
    // Two models may exchange their names, and each has one current layout at most.
    for (number, _, _) in changed {
      try connection.run(
        "UPDATE _ms_journal_layouts SET is_current = 0 WHERE number = \(number)")
    }
    for (number, layout, isCurrent) in changed {
      try connection.run(
        """
        UPDATE _ms_journal_layouts
        SET model = \(layout.model), definition = \(try CatalogText.text(of: layout)),
          is_current = \(isCurrent ? 1 : 0)
        WHERE number = \(number)
        """)
    }
  }
}
