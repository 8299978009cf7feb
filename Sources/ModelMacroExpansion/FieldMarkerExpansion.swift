#if Macros
  internal import SwiftDiagnostics
  package import SwiftSyntax
  package import SwiftSyntaxMacros

  /// `@Key`, `@Unique`, `@Column`, `@Validate`, `@Reference` and `@Ordered`. They expand to
  /// nothing, because `@Model` reads them. This only refuses misplaced attributes that `@Model`
  /// never sees.
  package protocol FieldMarkerExpansion: PeerMacro {}

  extension FieldMarkerExpansion {
    package static func expansion(
      of node: AttributeSyntax, providingPeersOf declaration: some DeclSyntaxProtocol,
      in context: some MacroExpansionContext
    ) throws -> [DeclSyntax] {
      let isInModel =
        context.lexicalContext.first?.asProtocol((any DeclGroupSyntax).self)?
        .attributes.contains { $0.as(AttributeSyntax.self)?.plainName == "Model" } ?? false
      if !isInModel || !declaration.is(VariableDeclSyntax.self) {
        context.diagnose(
          Diagnostic(
            node: node, message: Refusal.markerOutsideModel(node.plainName),
            fixIt: .remove(node)))
      }
      return []
    }
  }
#endif
