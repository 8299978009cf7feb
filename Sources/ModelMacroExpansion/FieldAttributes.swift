#if Macros
  internal import SwiftSyntax

  /// The attributes of stored properties, by their names.
  enum FieldMarker: String, CaseIterable {
    case key = "Key"
    case unique = "Unique"
    case column = "Column"
    case validate = "Validate"
    case reference = "Reference"
    case ordered = "Ordered"
  }

  /// The field attributes of one property, in source order. Other attributes are left out.
  struct FieldAttributes {
    private(set) var nodes: [(marker: FieldMarker, node: AttributeSyntax)] = []

    init(_ attributes: AttributeListSyntax) {
      for case .attribute(let node) in attributes {
        if let marker = FieldMarker(rawValue: node.plainName) { nodes.append((marker, node)) }
      }
    }

    func node(_ marker: FieldMarker) -> AttributeSyntax? {
      nodes.first { $0.marker == marker }?.node
    }

    /// Returns the arguments of every attribute called `marker`, in source order.
    func arguments(of marker: FieldMarker) -> [LabeledExprSyntax] {
      nodes.filter { $0.marker == marker }.flatMap(\.node.labeledArguments)
    }

    /// Returns the argument with `label` of the attribute called `marker`.
    func argument(_ label: String, of marker: FieldMarker) -> ExprSyntax? {
      arguments(of: marker).first { $0.label?.text == label }?.expression
    }

    /// The attributes that repeat an earlier one. Only rules may be repeated.
    var repeated: [AttributeSyntax] {
      var seen: Set<FieldMarker> = [.validate]
      var repeated: [AttributeSyntax] = []
      for (marker, node) in nodes where !seen.insert(marker).inserted && marker != .validate {
        repeated.append(node)
      }
      return repeated
    }
  }

  extension AttributeSyntax {
    /// The attribute's name without a module's: `Key` for `@ModelStoreMacro.Key`.
    var plainName: String {
      if let member = attributeName.as(MemberTypeSyntax.self) { return member.name.text }
      return attributeName.as(IdentifierTypeSyntax.self)?.name.text ?? ""
    }

    var labeledArguments: [LabeledExprSyntax] {
      guard case .argumentList(let list) = arguments else { return [] }
      return Array(list)
    }
  }
#endif
