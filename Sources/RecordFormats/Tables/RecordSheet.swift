/// One record with one field per line, in full. For `get` and for records too wide for a table.
///
/// A text with several lines keeps them, indented to its first line.
package struct RecordSheet: Sendable {
  /// A field's name and its displayed text.
  package struct Field: Hashable, Sendable {
    package var name: String
    package var text: String
    package var isNull: Bool

    /// Creates a field that shows a stored value.
    package init(_ column: OutputColumn, _ value: CellValue) {
      name = column.name
      isNull = value == .null
      if case .text(let text) = value {
        self.text = text
      } else {
        text = CellText.display(value, as: column.meaning)
      }
    }
  }

  package var title: String
  package var fields: [Field]

  package init(title: String, fields: [Field]) {
    self.title = title
    self.fields = fields
  }

  /// The lines of the sheet, each ended by a newline.
  package func text(palette: Palette) -> String {
    let nameWidth = fields.map { DisplayWidth.of(CellText.visible($0.name)) }.max() ?? 0
    let indent = String(repeating: " ", count: nameWidth + 4)
    var lines = palette.dressed(CellText.visible(title), as: .identifier) + "\n"
    for field in fields {
      let name = CellText.visible(field.name)
      let padding = String(repeating: " ", count: nameWidth - DisplayWidth.of(name) + 2)
      var beginning = "  " + name + padding
      for part in field.text.split(separator: "\n", omittingEmptySubsequences: false) {
        let shown = CellText.visible(String(part))
        let value = field.isNull ? palette.dressed(shown, as: .hint) : shown
        lines += Self.trimmed(beginning + value) + "\n"
        beginning = indent
      }
    }
    return lines
  }

  private static func trimmed(_ line: String) -> Substring {
    let end = line.lastIndex { $0 != " " }
    return end.map { line[...$0] } ?? ""
  }
}
