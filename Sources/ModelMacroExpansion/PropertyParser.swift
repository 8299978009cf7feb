#if Macros
  internal import SwiftDiagnostics
  internal import SwiftSyntax

  /// Reads a model's members, one after the other, into fields and lists.
  struct PropertyParser {
    /// A field and its place in the source.
    struct Field {
      var description: FieldDescription
      var nameNode: TokenSyntax
      var typeNode: TypeSyntax
      var columnArgument: ExprSyntax?

      var columnNode: Syntax { columnArgument.map { Syntax($0) } ?? Syntax(nameNode) }

      /// The column's name; nil when it is not written as a plain literal.
      var literalColumn: String? {
        guard let columnArgument else { return description.name }
        return columnArgument.plainLiteral
      }

      /// The type without its outermost optional.
      var wrappedType: String { typeNode.wrappedType?.trimmedDescription ?? description.type }
    }

    let modelIdentifier: String
    private(set) var fields: [Field] = []
    private(set) var lists: [ListDescription] = []
    private(set) var diagnostics: [Diagnostic] = []
    /// Whether a property that was to be the key was refused. Then no second diagnostic about a
    /// missing key is needed.
    private(set) var hasRefusedKey = false

    init(modelIdentifier: String) {
      self.modelIdentifier = modelIdentifier
    }

    mutating func read(_ declaration: DeclSyntax) {
      if let condition = declaration.as(IfConfigDeclSyntax.self) {
        refuseFields(in: condition)
      } else if let variable = declaration.as(VariableDeclSyntax.self) {
        read(variable)
      }
    }

    private mutating func refuseFields(in condition: IfConfigDeclSyntax) {
      for clause in condition.clauses {
        guard case .decls(let items) = clause.elements else { continue }
        for item in items {
          if let nested = item.decl.as(IfConfigDeclSyntax.self) { refuseFields(in: nested) }
          guard let variable = item.decl.as(VariableDeclSyntax.self), !variable.isStatic else {
            continue
          }
          if variable.bindings.contains(where: { !$0.isComputed }) {
            refuse(variable, .conditionalField)
          }
        }
      }
    }

    private mutating func read(_ variable: VariableDeclSyntax) {
      let attributes = FieldAttributes(variable.attributes)
      for node in attributes.repeated {
        refuse(node, .repeatedMarker(node.plainName), fixIts: [.remove(node)])
      }
      if variable.isStatic || variable.bindings.allSatisfy(\.isComputed) {
        for (marker, node) in attributes.nodes {
          if marker == .key { hasRefusedKey = true }
          refuse(node, .markerNeedsField(marker.rawValue), fixIts: [.remove(node)])
        }
        return
      }
      let bindings = Array(variable.bindings)
      for (index, binding) in bindings.enumerated() where !binding.isComputed {
        // In `var x, y: Double` the type belongs to the last name.
        let annotation =
          bindings[index...].prefix { $0.typeAnnotation != nil || $0.initializer == nil }
          .compactMap(\.typeAnnotation).first
        read(binding, type: annotation?.type, of: variable, attributes: attributes)
      }
    }

    private mutating func read(
      _ binding: PatternBindingSyntax, type: TypeSyntax?, of variable: VariableDeclSyntax,
      attributes: FieldAttributes
    ) {
      guard let name = binding.pattern.as(IdentifierPatternSyntax.self)?.identifier else {
        refuse(binding.pattern, .notOneName)
        return
      }
      let isKey = attributes.node(.key) != nil || name.plainText == "id"
      if let lazy = variable.modifiers.first(where: { $0.name.tokenKind == .keyword(.lazy) }) {
        hasRefusedKey = hasRefusedKey || isKey
        refuse(lazy, .lazyField(name.text), fixIts: [.remove(lazy)])
        return
      }
      guard let type else {
        hasRefusedKey = hasRefusedKey || isKey
        let guess = binding.initializer?.value.writtenType ?? "<#Type#>"
        refuse(
          binding.pattern, .missingType(name.text, type: guess),
          fixIts: [.insert(": \(guess)", after: binding.pattern, message: "add ': \(guess)'")])
        return
      }
      if let ordered = attributes.node(.ordered) {
        readList(name, type: type, binding: binding, attributes: attributes, ordered: ordered)
        return
      }
      if type.listElement != nil {
        refuse(
          type, .listNeedsOrdered,
          fixIts: [
            .insert(
              "@Ordered ", before: variable.firstTokenAfterAttributes, message: "write @Ordered")
          ])
        return
      }
      if variable.bindingSpecifier.tokenKind == .keyword(.let), binding.initializer != nil {
        hasRefusedKey = hasRefusedKey || isKey
        refuse(
          variable.bindingSpecifier, .constantWithValue(name.text),
          fixIts: [
            .write("var", insteadOf: variable.bindingSpecifier, message: "write 'var'")
          ])
        return
      }
      readField(name, type: type, binding: binding, variable: variable, attributes: attributes)
    }

    private mutating func readField(
      _ name: TokenSyntax, type: TypeSyntax, binding: PatternBindingSyntax,
      variable: VariableDeclSyntax, attributes: FieldAttributes
    ) {
      let column = attributes.argument("name", of: .column)
      let isOptional = type.wrappedType != nil
      if let validate = attributes.node(.validate), attributes.arguments(of: .validate).isEmpty {
        refuse(validate, .noRules)
      }
      let reference = attributes.node(.reference).flatMap {
        self.reference($0, from: name, type: type, isOptional: isOptional)
      }
      fields.append(
        Field(
          description: FieldDescription(
            identifier: name.text, name: name.plainText, type: text(type), isOptional: isOptional,
            initialValue: binding.initializer.map { text($0.value) },
            access: AccessLevel(variable.modifiers) ?? .internal,
            isKey: attributes.node(.key) != nil,
            isUnique: attributes.node(.unique) != nil, column: column.map { text($0) },
            defaultSQL: attributes.argument("default", of: .column).map { text($0) },
            collation: attributes.argument("collation", of: .column).map { text($0) },
            reference: reference,
            rules: attributes.arguments(of: .validate).map { text($0.expression) }),
          nameNode: name, typeNode: type, columnArgument: column))
    }

    private mutating func reference(
      _ node: AttributeSyntax, from name: TokenSyntax, type: TypeSyntax, isOptional: Bool
    ) -> String? {
      let arguments = node.labeledArguments
      guard let model = arguments.first(where: { $0.label == nil })?.expression.metatypeBase else {
        refuse(node, .referenceNeedsModel)
        return nil
      }
      let actions = arguments.filter { $0.label != nil }
      let setsNull = actions.contains {
        $0.expression.as(MemberAccessExprSyntax.self)?.declName.baseName.text == "setNull"
      }
      if setsNull, !isOptional {
        refuse(
          type, .setNullNeedsOptional(name.text, type: type.trimmedDescription),
          fixIts: [.insert("?", after: type, message: "write '\(type.trimmedDescription)?'")])
      }
      // Not through the other model's definition, because two models may refer to each other.
      let table = "table: \(text(model)).tableName"
      return ([table] + actions.map { "\($0.label?.text ?? ""): \(text($0.expression))" })
        .joined(separator: ", ")
    }

    private mutating func readList(
      _ name: TokenSyntax, type: TypeSyntax, binding: PatternBindingSyntax,
      attributes: FieldAttributes, ordered: AttributeSyntax
    ) {
      for (marker, node) in attributes.nodes where marker != .ordered {
        if marker == .key { hasRefusedKey = true }
        refuse(node, .markerOnList(marker.rawValue), fixIts: [.remove(node)])
      }
      guard let element = type.listElement else {
        let element = type.as(ArrayTypeSyntax.self)?.element.trimmedDescription ?? "<#Element#>"
        let wanted = "OrderedList<\(element)>"
        refuse(
          type, .orderedNeedsList(name.text, type: wanted),
          fixIts: [.write(wanted, insteadOf: type, message: "write '\(wanted)'")])
        return
      }
      lists.append(
        ListDescription(
          identifier: name.text, name: name.plainText, element: text(element),
          hasInitialValue: binding.initializer != nil))
    }

    /// Returns the node as text that has the same meaning inside `Draft` and `Key`, where `Self` is
    /// another type.
    private func text(_ node: some SyntaxProtocol) -> String {
      node.trimmed.tokens(viewMode: .sourceAccurate).map { token in
        token.tokenKind == .keyword(.Self)
          ? token.with(\.tokenKind, .identifier(modelIdentifier)).description : token.description
      }.joined()
    }

    private mutating func refuse(
      _ node: some SyntaxProtocol, _ refusal: Refusal, fixIts: [FixIt] = []
    ) {
      diagnostics.append(Diagnostic(node: node, message: refusal, fixIts: fixIts))
    }
  }
#endif
