#if Macros
  internal import SwiftDiagnostics
  internal import SwiftSyntax

  /// Reads a declaration into a ``ModelDescription`` and collects diagnostics.
  struct ModelParser {
    let attribute: AttributeSyntax
    /// The declarations around the model, innermost first.
    let lexicalContext: [Syntax]
    private(set) var diagnostics: [Diagnostic] = []

    init(attribute: AttributeSyntax, lexicalContext: [Syntax]) {
      self.attribute = attribute
      self.lexicalContext = lexicalContext
    }

    /// Returns the model, or nil when the declaration is not a struct. It is complete only if there
    /// are no ``diagnostics``.
    mutating func parse(_ declaration: some DeclGroupSyntax) -> ModelDescription? {
      guard let declaration = declaration.as(StructDeclSyntax.self) else {
        refuseKind(of: declaration)
        return nil
      }
      let identifier = declaration.name.text
      refuseSurroundings(of: declaration)

      var properties = PropertyParser(modelIdentifier: identifier)
      for item in declaration.memberBlock.members { properties.read(item.decl) }
      diagnostics += properties.diagnostics
      refuseTakenNames(in: declaration)

      let keyIndices = keyIndices(of: properties, in: declaration)
      refuseDuplicates(in: properties)
      let name = declaration.name.plainText
      let table = attribute.labeledArguments.first { $0.label?.text == "table" }
      return ModelDescription(
        identifier: identifier, name: name,
        access: max(access(of: declaration), .internal),
        availability: declaration.attributes.compactMap { element in
          guard case .attribute(let node) = element, node.plainName == "available" else {
            return nil
          }
          return node.trimmedDescription
        },
        table: table?.expression.trimmedDescription ?? "\"\(name)\"",
        fields: properties.fields.map(\.description), keyIndices: keyIndices,
        lists: properties.lists,
        declaresInitializer: declaration.memberBlock.members.contains {
          $0.decl.is(InitializerDeclSyntax.self)
        })
    }

    /// Returns the access of a declaration. In an extension, a declaration without a level has the
    /// extension's level.
    private func access(of declaration: StructDeclSyntax) -> AccessLevel {
      AccessLevel(declaration.modifiers)
        ?? lexicalContext.first?.as(ExtensionDeclSyntax.self).flatMap { AccessLevel($0.modifiers) }
        ?? .internal
    }

    private mutating func refuseKind(of declaration: some DeclGroupSyntax) {
      let name =
        declaration.asProtocol((any NamedDeclSyntax).self)?.name.text
        ?? declaration.as(ExtensionDeclSyntax.self)?.extendedType.trimmedDescription ?? "Model"
      let refusal = Refusal.notAStruct(name: name)
      if let node = declaration.as(ClassDeclSyntax.self) {
        var fixIt = FixIt.write("struct", insteadOf: node.classKeyword, message: "write 'struct'")
        if let final = node.modifiers.first(where: { $0.name.tokenKind == .keyword(.final) }) {
          fixIt = FixIt(
            message: fixIt.message, changes: FixIt.remove(final).changes + fixIt.changes)
        }
        refuse(node.classKeyword, refusal, fixIts: [fixIt])
      } else if let node = declaration.as(ActorDeclSyntax.self) {
        refuse(
          node.actorKeyword, refusal,
          fixIts: [.write("struct", insteadOf: node.actorKeyword, message: "write 'struct'")])
      } else {
        refuse(declaration.introducer, refusal)
      }
    }

    private mutating func refuseSurroundings(of declaration: StructDeclSyntax) {
      let name = declaration.name.text
      if let parameters = declaration.genericParameterClause {
        refuse(parameters, .generic(name: name))
      }
      let isInsideGeneric = lexicalContext.contains {
        $0.asProtocol((any WithGenericParametersSyntax).self)?.genericParameterClause != nil
      }
      if isInsideGeneric { refuse(declaration.name, .insideGeneric(name: name)) }
      if !lexicalContext.isEmpty,
        let modifier = declaration.modifiers.first(where: {
          $0.name.tokenKind == .keyword(.private)
        })
      {
        refuse(
          modifier, .privateInside(name: name),
          fixIts: [.write("fileprivate", insteadOf: modifier, message: "write 'fileprivate'")])
      }
    }

    private mutating func refuseTakenNames(in declaration: StructDeclSyntax) {
      for item in declaration.memberBlock.members {
        if let type = item.decl.asProtocol((any NamedDeclSyntax).self),
          item.decl.asProtocol((any DeclGroupSyntax).self) != nil
            || item.decl.is(TypeAliasDeclSyntax.self),
          ["Draft", "Key"].contains(type.name.plainText)
        {
          refuse(type.name, .nameTaken(type.name.plainText))
        }
        guard let variable = item.decl.as(VariableDeclSyntax.self) else { continue }
        for binding in variable.bindings {
          guard let name = binding.pattern.as(IdentifierPatternSyntax.self)?.identifier else {
            continue
          }
          if variable.isStatic, ["definition", "tableName"].contains(name.plainText) {
            refuse(name, .nameTaken(name.plainText))
          } else if !variable.isStatic, binding.isComputed, name.plainText == "key" {
            refuse(name, .nameTaken(name.plainText))
          }
        }
      }
    }

    /// The properties marked with `@Key`, or else the one called `id`.
    private mutating func keyIndices(
      of properties: PropertyParser, in declaration: StructDeclSyntax
    ) -> [Int] {
      let fields = properties.fields
      var indices = fields.indices.filter { fields[$0].description.isKey }
      if indices.isEmpty { indices = fields.indices.filter { fields[$0].description.name == "id" } }
      if indices.isEmpty, !properties.hasRefusedKey {
        refuse(
          declaration.name, .noKey(name: declaration.name.text),
          fixIts: [addingID(to: declaration.memberBlock)])
      }
      for index in indices where fields[index].description.isOptional {
        // SQLite lets several rows have NULL in a key:
        // https://sqlite.org/lang_createtable.html#primkeyconst
        let field = fields[index]
        let type = field.wrappedType
        refuse(
          field.typeNode, .optionalKey(field.description.identifier, type: type),
          fixIts: [.write(type, insteadOf: field.typeNode, message: "write '\(type)'")])
      }
      for (index, field) in fields.enumerated()
      where field.description.name == "key" && indices != [index] {
        refuse(field.nameNode, .keyNameTaken())
      }
      return indices
    }

    private func addingID(to block: MemberBlockSyntax) -> FixIt {
      let message = "add 'var id: Int64'"
      guard let first = block.members.first else {
        return .insert(" var id: Int64 ", after: block.leftBrace, message: message)
      }
      let lines = first.leadingTrivia.description.split(
        separator: "\n", omittingEmptySubsequences: false)
      let separator = lines.count > 1 ? "\n\(lines.last ?? "")" : "; "
      return .insert("var id: Int64\(separator)", before: first, message: message)
    }

    private mutating func refuseDuplicates(in properties: PropertyParser) {
      var names: Set<String> = []
      var columns: [String: String] = [:]
      for field in properties.fields {
        let name = field.description.name
        guard names.insert(name).inserted else {
          refuse(field.nameNode, .duplicateField(name))
          continue
        }
        guard let column = field.literalColumn else { continue }
        if let other = columns.updateValue(name, forKey: column.lowercased()) {
          refuse(field.columnNode, .duplicateColumn(column, property: other))
        }
      }
    }

    private mutating func refuse(
      _ node: some SyntaxProtocol, _ refusal: Refusal, fixIts: [FixIt] = []
    ) {
      diagnostics.append(Diagnostic(node: node, message: refusal, fixIts: fixIts))
    }
  }
#endif
