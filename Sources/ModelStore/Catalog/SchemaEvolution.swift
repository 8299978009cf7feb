/// The statements that turn one schema into another, and back. Each of them has run in an empty
/// database, where the result was compared with the desired schema.
///
/// It compares schemas only. For the changes that a store makes itself, see ``MigrationPlan``.
package struct SchemaEvolution: Sendable {
  /// Statements that belong together.
  package struct Step: Hashable, Sendable {
    /// Each begins with the table, column or object: `Todo.due add`.
    package let changes: [String]
    package let statements: [String]
    /// Whether all records of a table are copied.
    package var isRebuild = false
    package var losses: [SchemaLoss] = []
    /// One sentence for each reason why it may fail for records that a file has.
    package var warnings: [String] = []
  }

  /// A table or column that goes, while others of the same form come. It may be a new name.
  package struct Question: Hashable, Sendable {
    /// `Todo.title` or `Todo`
    package let dropped: String
    /// The renames that are possible, in the order of the new schema.
    package let renames: [SchemaRename]
  }

  package let steps: [Step]
  /// The steps back; nil if the way there loses values.
  package let reverse: [Step]?
  package let questions: [Question]

  /// - Parameters:
  ///   - renames: The tables and columns that get a new name.
  ///   - dropped: The tables and columns, as in ``Question/dropped``, that really go.
  ///   - functions: The functions of the store's connections, which CHECKs may call.
  /// - Throws: ``StoreError`` with code `unsupportedSchema` if no statements lead to the desired
  ///   schema, `misuse` for a rename of something that does not exist.
  package init(
    from old: SchemaSnapshot, to new: SchemaSnapshot, renames: [SchemaRename] = [],
    dropping dropped: Set<String> = [], functions: Set<SQLFunction> = []
  ) throws {
    var evolver = try SchemaEvolver(from: old, functions: functions)
    try Self.check(dropped, in: old)
    try evolver.rename(renames)
    questions = try evolver.questions(
      to: new, dropping: Set(dropped.map(\.asciiFolded)), after: renames)
    try evolver.evolve(to: new)
    steps = evolver.steps
    guard steps.allSatisfy(\.losses.isEmpty) else {
      reverse = nil
      return
    }
    // The objects of the store are the same in both.
    var returner = try SchemaEvolver(from: new, functions: functions)
    try returner.rename(Self.inverse(renames))
    try returner.evolve(to: old)
    reverse = returner.steps
  }

  /// Throws for a name that no table or column of `old` has.
  private static func check(_ dropped: Set<String>, in old: SchemaSnapshot) throws {
    let names = old.tables.flatMap { table in
      [table.name] + table.columns.map { "\(table.name).\($0.name)" }
    }
    let known = Set(names.map(\.asciiFolded))
    guard let other = dropped.sorted().first(where: { !known.contains($0.asciiFolded) }) else {
      return
    }
    throw StoreError(.misuse, "There is no table or column \(other) to drop.")
  }

  /// The renames back, in the reverse order.
  private static func inverse(_ renames: [SchemaRename]) -> [SchemaRename] {
    let tables = Dictionary(
      renames.filter { $0.column == nil }.map { ($0.table.asciiFolded, $0.newName) },
      uniquingKeysWith: { first, _ in first })
    return renames.reversed().map { rename in
      guard let column = rename.column else {
        return SchemaRename(table: rename.newName, newName: rename.table)
      }
      return SchemaRename(
        table: tables[rename.table.asciiFolded] ?? rename.table, column: rename.newName,
        newName: column)
    }
  }
}

/// Changes an empty database step by step, and notes the statements.
private struct SchemaEvolver {
  private let scratch: ScratchSchema
  private(set) var steps: [SchemaEvolution.Step] = []

  init(from old: SchemaSnapshot, functions: Set<SQLFunction>) throws {
    scratch = try ScratchSchema(functions: functions)
    try scratch.create(old.texts)
  }

  // Names

  mutating func rename(_ renames: [SchemaRename]) throws {
    // Columns are found by the old names of their tables.
    for rename in renames where rename.column != nil { try run(rename) }
    for rename in renames where rename.column == nil { try run(rename) }
  }

  private mutating func run(_ rename: SchemaRename) throws {
    let found = try scratch.snapshot().table(named: rename.table)
    guard let table = found, rename.column.map({ table.column(named: $0) != nil }) ?? true else {
      throw StoreError(
        .misuse,
        "There is no \(rename.column == nil ? "table" : "column") \(rename.subject) to rename."
      )
    }
    let statement = rename.statement(on: table.name)
    do {
      try scratch.run([statement])
    } catch let error as SQLiteError {
      throw StoreError(
        .unsupportedSchema, "\(rename.subject) cannot be renamed: \(error.message).")
    }
    steps.append(
      SchemaEvolution.Step(
        changes: ["\(rename.subject) rename to \(rename.newName)"], statements: [statement]))
  }

  /// The tables and columns of the database that `new` lacks, while it has others of the same form.
  /// Tables have their old names in the questions, as in the answers.
  func questions(
    to new: SchemaSnapshot, dropping dropped: Set<String>, after renames: [SchemaRename]
  ) throws -> [SchemaEvolution.Question] {
    let old = try scratch.snapshot()
    func formerName(_ table: TableFacts) -> String {
      let rename = renames.first { rename in
        rename.column == nil && rename.newName.asciiFolded == table.name.asciiFolded
      }
      return rename?.table ?? table.name
    }
    let columns = old.tables.flatMap { table -> [SchemaEvolution.Question] in
      guard let target = new.table(named: table.name) else { return [] }
      return table.columns.filter { target.column(named: $0.name) == nil }.compactMap { column in
        let twins = target.columns.filter { other in
          table.column(named: other.name) == nil && column.hasForm(of: other)
        }
        let name = formerName(table)
        return question(
          "\(name).\(column.name)", dropped,
          twins.map { SchemaRename(table: name, column: column.name, newName: $0.name) })
      }
    }
    let tables = old.tables.filter { new.table(named: $0.name) == nil }.compactMap { table in
      let twins = new.tables.filter { other in
        old.table(named: other.name) == nil
          && Set(other.columns.map(\.name.asciiFolded))
            == Set(table.columns.map(\.name.asciiFolded))
      }
      return question(
        table.name, dropped, twins.map { SchemaRename(table: table.name, newName: $0.name) })
    }
    return tables + columns
  }

  private func question(
    _ subject: String, _ dropped: Set<String>, _ renames: [SchemaRename]
  ) -> SchemaEvolution.Question? {
    guard !renames.isEmpty, !dropped.contains(subject.asciiFolded) else { return nil }
    return SchemaEvolution.Question(dropped: subject, renames: renames)
  }

  // Everything else

  mutating func evolve(to new: SchemaSnapshot) throws {
    try dropObjects(lackingIn: new)
    let old = try scratch.snapshot()
    for table in new.tables where old.table(named: table.name)?.kind != table.kind {
      guard old.table(named: table.name) == nil else { continue }
      try note("\(table.name) create", [table.sql])
    }
    for table in new.tables {
      guard let former = old.table(named: table.name),
        TableShape(former) != TableShape(table)
      else { continue }
      try change(former, to: table, in: old)
    }
    for table in old.tables where new.table(named: table.name) == nil {
      try note(
        "\(table.name) drop", ["DROP TABLE \(SQLText.quoted(table.name))"],
        losses: [.table(table.name)])
    }
    try createObjects(of: new)
    try prove(new)
  }

  private mutating func note(
    _ change: String, _ statements: [String], losses: [SchemaLoss] = []
  ) throws {
    try scratch.run(statements)
    steps.append(
      SchemaEvolution.Step(changes: [change], statements: statements, losses: losses))
  }

  /// Drops the triggers, views and indexes that `new` lacks or has in another form, so that no
  /// change of a table fails because of them.
  private mutating func dropObjects(lackingIn new: SchemaSnapshot) throws {
    let old = try scratch.snapshot()
    for type in ["trigger", "view", "index"] {
      for text in old.texts where text.type == type {
        let staysOwned = type == "view" || new.hasOwner(of: text)
        guard staysOwned, new.text(type, named: text.name)?.canonical != text.canonical else {
          continue
        }
        try note(
          "\(type) \(text.name) drop", ["DROP \(type.uppercased()) \(SQLText.quoted(text.name))"])
      }
    }
  }

  private mutating func createObjects(of new: SchemaSnapshot) throws {
    let old = try scratch.snapshot()
    for type in ["index", "view", "trigger"] {
      for text in new.texts where text.type == type {
        guard old.text(type, named: text.name)?.canonical != text.canonical else { continue }
        try note("\(type) \(text.name) create", [text.sql])
      }
    }
  }

  private mutating func change(
    _ old: TableFacts, to new: TableFacts, in schema: SchemaSnapshot
  ) throws {
    let transition = TableTransition(
      from: old, to: new, copyingInto: try scratch.snapshot().unusedName("new_\(new.name)"),
      keeping: schema.texts.filter { text in
        ["index", "trigger"].contains(text.type)
          && text.table.asciiFolded == old.name.asciiFolded
      })
    let scratch = scratch
    func hasForm() throws -> Bool {
      try scratch.snapshot().table(named: new.name).map { TableShape($0) } == TableShape(new)
    }
    let ways = [transition.statementsInPlace, transition.statementsOfRebuild]
    for (isRebuild, statements) in zip([false, true], ways) {
      guard let statements, try scratch.attempt(statements, hasForm) else { continue }
      steps.append(
        SchemaEvolution.Step(
          changes: transition.changes, statements: statements, isRebuild: isRebuild,
          losses: transition.losses, warnings: transition.warnings))
      return
    }
    guard new.kind == .virtual || old.kind == .virtual else {
      throw StoreError(
        .unsupportedSchema,
        """
        No statements are known that give the table \(new.name) its new form. Write the migration \
        by hand.
        """)
    }
    try note(
      "\(new.name) replace", ["DROP TABLE \(SQLText.quoted(old.name))", new.sql],
      losses: [.table(new.name)])
  }

  private func prove(_ new: SchemaSnapshot) throws {
    let differences = try scratch.snapshot().namesOfDifferences(from: new)
    guard differences.isEmpty else {
      throw StoreError(
        .unsupportedSchema,
        """
        The statements do not lead to the desired schema; they leave \
        \(differences.joined(separator: ", ")). Write the migration by hand.
        """)
    }
  }
}

extension ColumnFacts {
  /// Whether a column may be the same under another name.
  fileprivate func hasForm(of other: ColumnFacts) -> Bool {
    declaredType.asciiFolded == other.declaredType.asciiFolded && isNotNull == other.isNotNull
      && keyPosition == other.keyPosition && generated == nil && other.generated == nil
      && collation == other.collation
  }
}

extension SchemaSnapshot {
  /// Whether the table or view of an index or trigger exists.
  fileprivate func hasOwner(of text: SchemaText) -> Bool {
    table(named: text.table) != nil || self.text("view", named: text.table) != nil
  }

  /// Returns `name`, with a number if a table, index, view or trigger has it.
  fileprivate func unusedName(_ name: String) -> String {
    let taken = Set(tables.map(\.name.asciiFolded) + texts.map(\.name.asciiFolded))
    var candidate = name
    var number = 2
    while taken.contains(candidate.asciiFolded) {
      candidate = "\(name)_\(number)"
      number += 1
    }
    return candidate
  }

  /// What only one of the two has, or has in another form.
  func namesOfDifferences(from other: SchemaSnapshot) -> [String] {
    func parts(_ schema: SchemaSnapshot) -> SchemaParts {
      var parts = SchemaParts()
      for table in schema.tables { parts["the table \(table.name)"] = TableShape(table) }
      for text in schema.texts where text.type != "table" {
        parts["the \(text.type) \(text.name)"] = text.canonical
      }
      return parts
    }
    return parts(self).differences(from: parts(other))
  }
}
