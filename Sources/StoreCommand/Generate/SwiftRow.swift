import ModelStore

/// An adopted table or view as a struct of its rows.
struct SwiftRow {
  private let model: ModelSchema
  private let names: SwiftNames
  private let access: SwiftSource.Access

  init(_ model: ModelSchema, _ names: SwiftNames, _ access: SwiftSource.Access) {
    self.model = model
    self.names = names
    self.access = access
  }

  var text: String {
    let prefix = access.prefix
    let type = names.type(of: model)
    let properties = model.fields.map { field in
      "\(prefix)var \(names.property(field.name, of: model)): "
        + SwiftType.declared(field, in: model)
    }
    let cases = model.fields.map { field in
      let isNamedAlike = names.bare(field.name, of: model) == field.column
      return "case \(names.property(field.name, of: model))"
        + (isNamedAlike ? "" : " = \(SwiftText.literal(field.column))")
    }
    let columns = SQLText.quotedList(model.fields.map(\.column))
    let query = "SELECT \(columns) FROM \(SQLText.quoted(model.table))"
    return """
      \(remarks.map { $0.isEmpty ? "///" : "/// \(SwiftText.comment($0))" }.joined(separator: "\n"))
      \(prefix)struct \(type): Codable, Hashable, Sendable {
      \(SwiftText.indented(properties.joined(separator: "\n")))

        /// Reads all rows: `tx.rows(\(type).all, as: \(type).self)`.
        \(prefix)static let all: SQLText = \(SwiftText.literal(query))

        \(prefix)enum CodingKeys: String, CodingKey {
      \(SwiftText.indented(cases.joined(separator: "\n"), by: 2))
        }
      }
      """
  }

  /// What a row says of its table, and what a struct cannot express.
  private var remarks: [String] {
    let kind = model.kind == .view ? "view" : "table"
    var lines = ["A row of the \(kind) \(model.table), which another program made."]
    var facts: [String] = []
    if !model.key.isEmpty { facts.append("key: \(model.key.joined(separator: ", "))") }
    if model.isWithoutRowID { facts.append("without rowid") }
    facts += model.uniques.map { "unique together: \($0.joined(separator: ", "))" }
    facts += model.indexes.map { index in
      "\(index.isUnique ? "unique index" : "index") \(index.name): \(index.fields.joined(separator: ", "))"
    }
    facts += model.fields.flatMap(facts(of:)) + model.rules.map { "rule: \($0.condition)" }
    facts += model.lists.map { "list \($0.name): elements of \($0.elementTable)" }
    if !facts.isEmpty {
      lines += ["", "The file knows more about it:"] + facts.map { "- \($0)" }
    }
    return lines
  }

  private func facts(of field: FieldSchema) -> [String] {
    var facts: [String] = []
    if let form = field.form { facts.append("\(field.type.rawValue) as \(form.rawValue)") }
    if field.isUnique { facts.append("unique") }
    if field.collation != .binary { facts.append("collation \(field.collation.name)") }
    if let sql = field.defaultSQL { facts.append("default \(sql)") }
    if field.generated != nil { facts.append("computed by SQLite") }
    if let reference = field.reference {
      facts.append(
        "refers to \(reference.table)" + (reference.column.map { ".\($0)" } ?? "")
          + (reference.onDelete == .noAction ? "" : " on delete \(reference.onDelete.rawValue)"))
    }
    facts += field.rules.map { "rule \($0.condition)" }
    return facts.isEmpty ? [] : ["\(field.name): \(facts.joined(separator: "; "))"]
  }
}
