#if Macros
  internal import SwiftSyntax

  extension TokenSyntax {
    /// The name without the backticks that a keyword needs.
    var plainText: String { identifier?.name ?? text }
  }

  extension VariableDeclSyntax {
    var isStatic: Bool {
      modifiers.contains {
        $0.name.tokenKind == .keyword(.static) || $0.name.tokenKind == .keyword(.class)
      }
    }

    /// The first modifier, or `var` itself.
    var firstTokenAfterAttributes: TokenSyntax {
      modifiers.first?.name ?? bindingSpecifier
    }
  }

  extension PatternBindingSyntax {
    /// Whether the property has code instead of storage. Observers leave the storage in place.
    var isComputed: Bool {
      switch accessorBlock?.accessors {
      case nil: false
      case .getter: true
      case .accessors(let accessors):
        !accessors.allSatisfy {
          [.keyword(.willSet), .keyword(.didSet)].contains($0.accessorSpecifier.tokenKind)
        }
      }
    }
  }

  extension TypeSyntax {
    /// The wrapped type of an optional type, in any of its spellings; nil for another type.
    var wrappedType: TypeSyntax? {
      if let type = self.as(OptionalTypeSyntax.self) { return type.wrappedType }
      if let type = self.as(ImplicitlyUnwrappedOptionalTypeSyntax.self) { return type.wrappedType }
      return argument(of: "Optional")
    }

    /// The element of an `OrderedList`; nil for another type.
    var listElement: TypeSyntax? { argument(of: "OrderedList") }

    private func argument(of generic: String) -> TypeSyntax? {
      let clause: GenericArgumentClauseSyntax?
      if let type = self.as(IdentifierTypeSyntax.self), type.name.text == generic {
        clause = type.genericArgumentClause
      } else if let type = self.as(MemberTypeSyntax.self), type.name.text == generic {
        clause = type.genericArgumentClause
      } else {
        clause = nil
      }
      guard case .type(let argument) = clause?.arguments.first?.argument else { return nil }
      return argument
    }
  }

  extension ExprSyntax {
    /// `Album` of `Album.self`; nil for another expression.
    var metatypeBase: ExprSyntax? {
      guard let member = self.as(MemberAccessExprSyntax.self),
        member.declName.baseName.tokenKind == .keyword(.self)
      else { return nil }
      return member.base
    }

    /// The text of a string literal without escapes or interpolations; nil for another expression.
    var plainLiteral: String? {
      guard let literal = self.as(StringLiteralExprSyntax.self), literal.segments.count == 1,
        case .stringSegment(let segment) = literal.segments.first,
        !segment.content.text.contains("\\")
      else { return nil }
      return segment.content.text
    }

    /// The type that the spelling of a value shows: of a plain literal, or of a call such as
    /// `UUID()`.
    var writtenType: String? {
      if self.is(StringLiteralExprSyntax.self) { return "String" }
      if self.is(IntegerLiteralExprSyntax.self) { return "Int" }
      if self.is(FloatLiteralExprSyntax.self) { return "Double" }
      if self.is(BooleanLiteralExprSyntax.self) { return "Bool" }
      if let call = self.as(FunctionCallExprSyntax.self),
        let name = call.calledExpression.as(DeclReferenceExprSyntax.self)?.baseName.text,
        name.first?.isUppercase == true
      {
        return name
      }
      return nil
    }
  }

  extension AccessLevel {
    /// The access level for reading in `modifiers`, or nil when they name none. A setter's own
    /// level does not count.
    init?(_ modifiers: DeclModifierListSyntax) {
      for modifier in modifiers where modifier.detail == nil {
        switch modifier.name.tokenKind {
        case .keyword(.private): self = .private
        case .keyword(.fileprivate): self = .fileprivate
        case .keyword(.internal): self = .internal
        case .keyword(.package): self = .package
        case .keyword(.public): self = .public
        default: continue
        }
        return
      }
      return nil
    }
  }
#endif
