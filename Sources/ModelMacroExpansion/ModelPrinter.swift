#if Macros
  internal import SwiftSyntax
  internal import SwiftSyntaxBuilder

  /// Prints the members of a model: declarations, each with one call per field.
  struct ModelPrinter {
    let model: ModelDescription

    var members: [String] {
      var members = [tableName, definition]
      if let key { members.append(key) }
      if model.keyIndices.count > 1 { members.append(compositeKey) }
      if !model.declaresInitializer {
        members.append(
          initializer(model.fields, access: memberwiseAccess, emptyLists: emptyLists))
      }
      members += [rowInitializer, draftInitializer, encoding, draft]
      return members
    }

    private var access: String { model.access.prefix }

    private var tableName: String {
      "\(access)static let tableName: Swift.String = \(model.table)"
    }

    private var definition: String {
      let keyPaths = model.keyFields.map { keyPath($0) }.joined(separator: ", ")
      var arguments = [
        "\(literal(model.name)), table: tableName, key: \(keyPaths)",
        "fields: [\n\(indented(model.fields.map(definition(of:))))\n]",
      ]
      if !model.lists.isEmpty {
        arguments.append("lists: [\n\(indented(model.lists.map(definition(of:))))\n]")
      }
      // The type is written out, so that a property called `definition` does not shadow it.
      let type = "ModelStore.ModelDefinition<\(model.identifier)>"
      return """
        \(access)static let definition: \(type) = .init(
        \(indented(arguments))
        )
        """
    }

    private func definition(of field: FieldDescription) -> String {
      var arguments = [literal(field.name), keyPath(field)]
      if let column = field.column { arguments.append("column: \(column)") }
      if field.isUnique { arguments.append("isUnique: true") }
      if let defaultSQL = field.defaultSQL { arguments.append("defaultSQL: \(defaultSQL)") }
      if let collation = field.collation { arguments.append("collation: \(collation)") }
      if let reference = field.reference { arguments.append("reference: .init(\(reference))") }
      if !field.rules.isEmpty {
        arguments.append("rules: [\(field.rules.joined(separator: ", "))]")
      }
      return ".init(\(arguments.joined(separator: ", ")))"
    }

    private func definition(of list: ListDescription) -> String {
      ".init(\(literal(list.name)), \\\(model.identifier).\(list.identifier))"
    }

    /// `var key`, unless the key's property has that name itself.
    private var key: String? {
      guard let single = model.singleKey else {
        let parts = model.keyFields.map { "\($0.identifier): self.\($0.identifier)" }
        return """
          \(access)var key: Key {
            Key(\(parts.joined(separator: ", ")))
          }
          """
      }
      guard single.name != "key" else { return nil }
      return """
        \(access)var key: \(single.type) {
          self.\(single.identifier)
        }
        """
    }

    private var compositeKey: String {
      let fields = model.keyFields
      let required = fields.map { field in
        var field = field
        field.initialValue = nil
        return field
      }
      let parts = fields.map { "self.\($0.identifier)" }.joined(separator: ", ")
      let types = fields.map { "\($0.type).self" }.joined(separator: ", ")
      let values = fields.map { "self.\($0.identifier).sqlValue()" }.joined(separator: ", ")
      return """
        \(access)struct Key: ModelStore.ModelKey {
        \(indented(fields.map(part), separator: "\n"))

        \(indented([initializer(required, access: access(of: fields))]))

          \(access)init(
            sqlValues: [ModelStore.SQLValue]
          ) throws(ModelStore.ColumnError) {
            (\(parts)) = try Self.parts(of: sqlValues, as: \(types))
          }

          \(access)func sqlValues() throws(ModelStore.ColumnError) -> [ModelStore.SQLValue] {
            try [\(values)]
          }
        }
        """
    }

    private var rowInitializer: String {
      let fields = model.fields.enumerated().map { index, field in
        "self.\(field.identifier) = try row.decode(at: \(index))"
      }
      return """
        \(access)init(row: borrowing ModelStore.RowView) throws {
        \(indented(fields + emptyLists, separator: "\n"))
        }
        """
    }

    /// The initializer that makes the record of a draft. It does not use the struct's own
    /// initializers, whose parameters are unknown.
    private var draftInitializer: String {
      let assigned = model.assignedKey
      let fields = model.fields.map { field in
        field.identifier == assigned?.identifier
          ? "self.\(field.identifier) = key"
          : "self.\(field.identifier) = draft.\(field.identifier)"
      }
      let parameters = ["draft: Draft"] + (assigned.map { ["key: \($0.type)"] } ?? [])
      return """
        private init(\(parameters.joined(separator: ", "))) {
        \(indented(fields + emptyLists, separator: "\n"))
        }
        """
    }

    private var encoding: String {
      let fields = model.fields.enumerated().map { index, field in
        "try self.\(field.identifier).encode(to: &arguments, at: \(index))"
      }
      return """
        \(access)func encode(to arguments: inout ModelStore.ArgumentWriter) throws {
        \(indented(fields, separator: "\n"))
        }
        """
    }

    private var draft: String {
      let fields = draftFields
      let properties = fields.map { field in
        "\(min(field.access, model.access).prefix)var \(field.identifier): \(field.type)"
      }
      return """
        \(access)struct Draft: ModelStore.Insertable {
        \(indented(properties, separator: "\n"))

        \(indented([initializer(fields, access: memberwiseAccess)]))

        \(indented([encoding]))

          \(access)func record(rowID: Swift.Int64) throws -> \(model.identifier) {
            \(recordOfDraft)
          }
        }
        """
    }

    /// The model's fields. A key that can be assigned may be left out: SQLite assigns an integer,
    /// and a UUID is generated.
    private var draftFields: [FieldDescription] {
      var fields = model.fields
      guard model.keyIndices.count == 1, let index = model.keyIndices.first else { return fields }
      if fields[index].isRowNumber {
        fields[index].type += "?"
        fields[index].isOptional = true
        fields[index].initialValue = nil
      } else if fields[index].plainType == "UUID", fields[index].initialValue == nil {
        fields[index].initialValue = "\(fields[index].type)()"
      }
      return fields
    }

    private var recordOfDraft: String {
      guard let key = model.assignedKey else { return "\(model.identifier)(draft: self)" }
      let assigned =
        key.plainType == "Int64" ? "rowID" : "\(key.type)(sqlValue: .integer(rowID))"
      let start = key.plainType == "Int64" ? "" : "try "
      return "\(start)\(model.identifier)(draft: self, key: self.\(key.identifier) ?? \(assigned))"
    }

    /// An initializer with one parameter per field.
    private func initializer(
      _ fields: [FieldDescription], access: AccessLevel, emptyLists: [String] = []
    ) -> String {
      let parameters = fields.map { field in
        let value = field.initialValue ?? (field.isOptional ? "nil" : nil)
        return "\(field.identifier): \(field.type)\(value.map { " = \($0)" } ?? "")"
      }
      let assignments = fields.map { "self.\($0.identifier) = \($0.identifier)" }
      return """
        \(access.prefix)init(
        \(indented(parameters))
        ) {
        \(indented(assignments + emptyLists, separator: "\n"))
        }
        """
    }

    /// At most the access of the least accessible field, because its type may be hidden too.
    private var memberwiseAccess: AccessLevel { access(of: model.fields) }

    /// Returns the access of a declaration that mentions `fields`.
    private func access(of fields: [FieldDescription]) -> AccessLevel {
      fields.map(\.access).reduce(model.access, min)
    }

    /// Returns one part of a composite key. Its type may be less accessible than the model.
    private func part(_ field: FieldDescription) -> String {
      "\(access(of: [field]).prefix)var \(field.identifier): \(field.type)"
    }

    /// The initial values of lists. A list's property holds no elements; they are in the list's own
    /// table.
    private var emptyLists: [String] {
      model.lists.filter { !$0.hasInitialValue }.map { "self.\($0.identifier) = .init()" }
    }

    private func keyPath(_ field: FieldDescription) -> String {
      "\\\(model.identifier).\(field.identifier)"
    }

    private func literal(_ text: String) -> String {
      StringLiteralExprSyntax(content: text).description
    }

    private func indented(_ items: [String], separator: String = ",\n") -> String {
      items.joined(separator: separator).split(separator: "\n", omittingEmptySubsequences: false)
        .map { $0.isEmpty ? "" : "  \($0)" }.joined(separator: "\n")
    }
  }
#endif
