/// Fields to write before those of a line that stays as it is.
package enum LeadingFields {
  /// Returns the fields as the beginning of a line of CSV, each followed by the delimiter.
  package static func csv(_ fields: [String], delimiter: UInt8) -> [UInt8] {
    let quote = UInt8(ascii: "\"")
    return fields.reduce(into: []) { line, text in
      var field: [UInt8] = []
      DelimitedRows.Dialect.csv.append(text, to: &field)
      let isBare = field.first != quote && field.contains(delimiter)
      line += isBare ? [quote] + field + [quote] : field
      line.append(delimiter)
    }
  }

  /// Returns the fields as the beginning of a line of TSV, each followed by a tab.
  package static func tsv(_ fields: [String]) -> [UInt8] {
    fields.reduce(into: []) { line, text in
      DelimitedRows.Dialect.tsv.append(text, to: &line)
      line.append(UInt8(ascii: "\t"))
    }
  }
}
