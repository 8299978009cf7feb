/// One CREATE TRIGGER statement, from its parts. The texts of conditions and of the body are SQL.
package struct TriggerSQL: Hashable, Sendable {
  package let name: String
  package let moment: Moment
  /// The table's name, not quoted.
  package let table: String
  /// The text after WHEN; nil if the trigger runs for every row.
  package var condition: String?
  /// One or more statements in each element, each with its semicolon.
  package let body: [String]

  /// When a trigger runs.
  package struct Moment: Hashable, Sendable {
    fileprivate enum Time: String, Hashable, Sendable {
      case before = "BEFORE"
      case after = "AFTER"
    }

    fileprivate let time: Time
    fileprivate let event: Event

    package static func before(_ event: Event) -> Moment { Moment(time: .before, event: event) }
    package static func after(_ event: Event) -> Moment { Moment(time: .after, event: event) }
  }

  /// The kind of change for which a trigger runs.
  package enum Event: Hashable, Sendable {
    case insert, delete
    /// An update whose SET names one of the columns; any update if the list is empty.
    case updateOfColumns([String])

    /// Any update.
    package static let anyUpdate = updateOfColumns([])

    /// Returns the updates that can change `fields`.
    ///
    /// A generated column is never in an UPDATE's SET, so only WHEN can detect its change. A rowid
    /// has three more names: <https://sqlite.org/lang_createtable.html#rowid>.
    package static func update(of fields: [FieldSchema]) -> Event {
      guard fields.allSatisfy({ $0.generated == nil }) else { return anyUpdate }
      return update(of: fields.map(\.column), includingRowID: fields.contains(where: \.isRowID))
    }

    /// - Parameter includingRowID: Whether one of `columns` is the rowid.
    package static func update(of columns: [String], includingRowID: Bool) -> Event {
      var names: [String] = []
      let aliases = includingRowID ? ["rowid", "oid", "_rowid_"] : []
      for name in columns + aliases where !names.contains(name) { names.append(name) }
      return .updateOfColumns(names)
    }
  }

  package init(
    _ name: String, _ moment: Moment, on table: String, when condition: String? = nil,
    _ body: [String]
  ) {
    self.name = name
    self.moment = moment
    self.table = table
    self.condition = condition
    self.body = body
  }

  /// The statement as it is stored in the file.
  package var sql: String {
    let when = condition.map { "\nWHEN \($0)" } ?? ""
    return """
      CREATE TRIGGER \(SQLText.quoted(name))
      \(moment) ON \(SQLText.quoted(table))\(when)
      BEGIN
      \(body.joined(separator: "\n"))
      END
      """
  }

  package func object(of owner: SchemaObject.Owner) -> SchemaObject {
    SchemaObject(kind: .trigger, name: name, owner: owner, sql: sql)
  }
}

extension TriggerSQL.Moment: CustomStringConvertible {
  package var description: String { "\(time.rawValue) \(event)" }
}

extension TriggerSQL.Event: CustomStringConvertible {
  package var description: String {
    switch self {
    case .insert: "INSERT"
    case .delete: "DELETE"
    case .updateOfColumns(let names):
      names.isEmpty ? "UPDATE" : "UPDATE OF \(SQLText.quotedList(names))"
    }
  }
}
