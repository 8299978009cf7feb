/// The formats in which a result can be written; `-o` names them.
package enum OutputFormat: String, CaseIterable, Hashable, Sendable {
  /// Aligned columns for a person; the default on a terminal.
  case table
  /// Tab-separated and unpadded, without a header by default; the default in a pipe.
  case plain
  /// One JSON array of objects, with one object on each line.
  case json
  /// One JSON object on each line, flushed as soon as it is written.
  case ndjson
  /// RFC 4180 with a header.
  case csv
  /// Tab-separated with a header; backslash escapes make every text reversible.
  case tsv
  /// A list of mappings.
  case yaml
  /// A Markdown table, for people.
  case md
  /// One INSERT statement for each record, which restores the stored values exactly.
  case sql

  /// Returns the default format for a stream.
  package static func preferred(on terminal: Terminal) -> OutputFormat {
    terminal.isInteractive ? .table : .plain
  }

  /// The options of the formats.
  package struct Options: Hashable, Sendable {
    /// Whether delimited formats begin with the column names; nil for the default of the format.
    package var header: Header?
    /// The name of one record, if a table has to show one field per line.
    package var recordName: String?
    /// What ends a value of plain output.
    package var plainEnd = PlainEnd.line
    /// The table that SQL inserts into.
    package var tableName = ""
    /// How delimited formats write characters that could control a terminal.
    package var controls = Controls.asStored
    /// How delimited formats write text that a spreadsheet would run as a formula.
    package var formulas = Formulas.asStored

    package init(header: Header? = nil) { self.header = header }

    /// What separates the values of plain output.
    package enum PlainEnd: Hashable, Sendable {
      /// Tabs between values and a newline behind the last.
      case line
      /// A NUL behind each value, which is written as stored.
      case nul
    }

    /// How control characters, and characters that reorder others, are written.
    package enum Controls: Hashable, Sendable {
      case asStored
      /// Spelled out, for a person. No program can read them back.
      case shown
    }

    /// How text that looks like a formula is written; see ``FormulaText``.
    package enum Formulas: Hashable, Sendable {
      case asStored
      case escaped
    }

    /// Whether the column names come first.
    package enum Header: Hashable, Sendable {
      case present
      case absent
    }
  }

  /// Returns a writer of rows with `columns` to `sink`.
  ///
  /// - Throws: ``OutputError/duplicateColumn(_:)`` for a JSON format when two columns share a name.
  package func writer(
    columns: [OutputColumn], to sink: ByteSink, terminal: Terminal, options: Options = Options()
  ) throws(OutputError) -> any RowWriter {
    switch self {
    case .table:
      Table(columns: columns, sink: sink, terminal: terminal, recordName: options.recordName)
    case .plain where options.plainEnd == .nul:
      NULRows(columns: columns, options: options, sink: sink)
    case .plain:
      DelimitedRows(
        .plain, columns: columns, header: options.header ?? .absent, options: options, sink: sink)
    case .csv:
      DelimitedRows(
        .csv, columns: columns, header: options.header ?? .present, options: options, sink: sink)
    case .tsv:
      DelimitedRows(
        .tsv, columns: columns, header: options.header ?? .present, options: options, sink: sink)
    case .md: MarkdownRows(columns: columns, sink: sink)
    case .sql: InsertRows(columns: columns, options: options, sink: sink)
    case .yaml: try JSONRows(.yaml, columns: columns, sink: sink)
    case .json: try JSONRows(.array, columns: columns, sink: sink)
    case .ndjson: try JSONRows(.lines, columns: columns, sink: sink)
    }
  }
}
