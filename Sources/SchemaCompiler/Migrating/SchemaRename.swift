/// A new name for a table or column, which only a person can decide: dropping a column and adding
/// another one looks the same.
package struct SchemaRename: Hashable, Sendable {
  /// The table, by its old name.
  package let table: String
  /// The column, by its old name; nil to rename the table.
  package let column: String?
  package let newName: String

  package init(table: String, column: String? = nil, newName: String) {
    self.table = table
    self.column = column
    self.newName = newName
  }

  /// Reads `Todo.title=name` or `Todo=Task`; nil for any other text.
  package init?(_ text: String) {
    let sides = text.split(separator: "=", omittingEmptySubsequences: false)
    guard sides.count == 2, !sides[0].isEmpty, !sides[1].isEmpty, !sides[1].contains(".") else {
      return nil
    }
    let names = sides[0].split(separator: ".", omittingEmptySubsequences: false)
    guard names.count <= 2, names.allSatisfy({ !$0.isEmpty }) else { return nil }
    self.init(
      table: String(names[0]), column: names.count == 2 ? String(names[1]) : nil,
      newName: String(sides[1]))
  }

  /// What gets the name: `Todo.title` or `Todo`.
  package var subject: String { column.map { "\(table).\($0)" } ?? table }

  /// `Todo.title=name`
  package var text: String { "\(subject)=\(newName)" }

  /// The statement, for a table that is called `current` by now.
  package func statement(on current: String) -> String {
    guard let column else {
      return "ALTER TABLE \(SQLText.quoted(current)) RENAME TO \(SQLText.quoted(newName))"
    }
    return """
      ALTER TABLE \(SQLText.quoted(current)) \
      RENAME COLUMN \(SQLText.quoted(column)) TO \(SQLText.quoted(newName))
      """
  }
}
