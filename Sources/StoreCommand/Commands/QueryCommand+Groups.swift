import ModelStore
import RecordFormats

// Numbers over many records, for all of them or for each group.
extension QueryCommand {
  func showGroups(
    of schema: ModelSchema, _ opened: OpenedStore, _ context: CommandContext
  ) throws {
    let keys = try aggregates.keys(of: schema)
    let records = try PredicateText(schema: schema).query(where: predicate.text)
    let groups = try GroupedQuery(
      records, by: keys, try aggregates.aggregates(count: count, of: schema), sort: sort)
    let expansion = try expansion(of: keys, schema, opened)
    let text = try groups.text(limit: shownMax(context), offset: offset)
    if explain {
      let subject = IndexAdvice.Subject(
        records, grouping: keys.filter { $0.period == nil }.map(\.field),
        reading: groups.aggregates.compactMap { $0.calculation?.field })
      return try explain(text, of: subject, opened, context)
    }
    try context.console.say(text.sql, at: .verbose)
    let limit = shownMax(context)
    var shown = 0
    var hasMore = false
    try opened.read { reads in
      let result = GroupColumns(groups, expansion, as: context.format)
      var writer = try groupWriter(columns: result.columns, context)
      let referenced = ReferencedRecords()
      try groups.forEachGroup(limit: limit.map { $0 == .max ? $0 : $0 + 1 }, offset: offset, reads)
      { values in
        guard shown < limit ?? .max else {
          hasMore = true
          return
        }
        let row = try result.row(of: values) { model, index, value in
          try referenced.find(model, index, value) { try reads.referenced($0, $1, $2) }
        }
        try writer.write(row)
        shown += 1
      }
      try context.finish(writer)
    }
    guard !keys.isEmpty else { return }
    if hasMore {
      try context.console.say(
        "\(Grouped.text(shown, "group")) shown, there are more  (--limit, or --all)")
    } else if context.console.dataTerminal.isInteractive || shown == 0 {
      try context.console.say(Grouped.text(shown, "group"))
    }
  }

  /// The referenced records to show beside the keys of the groups.
  private func expansion(
    of keys: [GroupKey], _ schema: ModelSchema, _ opened: OpenedStore
  ) throws -> Expansion? {
    guard !expandedPaths.isEmpty else { return nil }
    let expansion = try Expansion(expandedPaths, of: schema, in: opened.store.schema.models)
    for reference in expansion.references {
      guard keys.contains(where: { $0.field.name == reference.field.name }) else {
        throw CommandError.usage(
          "--expand \(reference.field.name) needs groups by that field.",
          hint: "add --by \(Shell.quoted(reference.field.name))", model: schema.name,
          field: reference.field.name)
      }
    }
    return expansion
  }

  /// A chart on a terminal, if one is wanted; data elsewhere.
  private func groupWriter(
    columns: [OutputColumn], _ context: CommandContext
  ) throws -> any RowWriter {
    let terminal = context.console.dataTerminal
    guard aggregates.bar, context.format == .table, terminal.isInteractive else {
      return try context.reportWriter(columns: columns)
    }
    let value = columns.count - 1
    // A referenced record is a better label than its key.
    let chart = BarChart(
      label: columns[value > 1 ? 1 : 0], value: columns[value],
      style: context.surroundings.hasUnicode ? .blocks : .ascii, sink: context.console.data,
      terminal: terminal)
    return ChosenColumns(indices: [value > 1 ? 1 : 0, value], writer: chart)
  }
}

/// The columns of groups with the referenced records beside their keys.
private struct GroupColumns {
  private let groups: GroupedQuery
  private let references: [Int: Expansion.Reference]
  private let isObject: Bool
  let columns: [OutputColumn]

  init(_ groups: GroupedQuery, _ expansion: Expansion?, as format: OutputFormat) {
    self.groups = groups
    isObject = ResultColumns.hasObjects(format)
    var references: [Int: Expansion.Reference] = [:]
    var columns: [OutputColumn] = []
    for (place, column) in groups.columns.enumerated() {
      let key = place < groups.keys.count ? groups.keys[place] : nil
      let reference = expansion?.references.first { $0.field.name == key?.field.name }
      guard let reference, key?.period == nil else {
        columns.append(column)
        continue
      }
      references[place] = reference
      columns +=
        isObject
        ? [OutputColumn(column.name, meaning: .json)] : [column] + Expansion.columns(of: reference)
    }
    self.references = references
    self.columns = columns
  }

  func row(of values: [SQLValue], _ find: Expansion.Find) throws -> [CellValue] {
    let cells = groups.row(of: values)
    guard !references.isEmpty else { return cells }
    var row: [CellValue] = []
    for (place, cell) in cells.enumerated() {
      guard let reference = references[place] else {
        row.append(cell)
        continue
      }
      if isObject {
        let object = try Expansion.json(of: reference, for: values[place], find)
        row.append(.text(try JSONText.text(object)))
      } else {
        row.append(cell)
        row += try Expansion.cells(of: reference, for: values[place], find)
      }
    }
    return row
  }
}
