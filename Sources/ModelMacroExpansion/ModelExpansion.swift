#if Macros
  internal import SwiftDiagnostics
  package import SwiftSyntax
  internal import SwiftSyntaxBuilder
  package import SwiftSyntaxMacros

  /// `@Model`: reads the struct into a ``ModelDescription`` and prints the members of its
  /// conformance.
  package protocol ModelExpansion: MemberMacro, ExtensionMacro {}

  extension ModelExpansion {
    private static func description(
      of declaration: some DeclGroupSyntax, attribute: AttributeSyntax,
      in context: some MacroExpansionContext
    ) -> (ModelDescription?, [Diagnostic]) {
      var parser = ModelParser(attribute: attribute, lexicalContext: context.lexicalContext)
      let description = parser.parse(declaration)
      return (parser.diagnostics.isEmpty ? description : nil, parser.diagnostics)
    }

    package static func expansion(
      of node: AttributeSyntax, providingMembersOf declaration: some DeclGroupSyntax,
      conformingTo protocols: [TypeSyntax], in context: some MacroExpansionContext
    ) throws -> [DeclSyntax] {
      let (description, diagnostics) = description(of: declaration, attribute: node, in: context)
      for diagnostic in diagnostics { context.diagnose(diagnostic) }
      guard let description else { return [] }
      return ModelPrinter(model: description).members.map { "\(raw: $0)" }
    }

    package static func expansion(
      of node: AttributeSyntax, attachedTo declaration: some DeclGroupSyntax,
      providingExtensionsOf type: some TypeSyntaxProtocol, conformingTo protocols: [TypeSyntax],
      in context: some MacroExpansionContext
    ) throws -> [ExtensionDeclSyntax] {
      // The member expansion has already reported the diagnostics.
      guard let description = description(of: declaration, attribute: node, in: context).0 else {
        return []
      }
      // The compiler leaves out protocols to which the declaration already conforms.
      let missing = Set(protocols.map { $0.trimmedDescription.split(separator: ".").last })
      let conformances = description.conformances.filter {
        missing.contains($0.split(separator: ".").last)
      }
      guard !conformances.isEmpty else { return [] }
      let attributes = description.availability.map { "\($0)\n" }.joined()
      let syntax: DeclSyntax = """
        \(raw: attributes)extension \(type.trimmed): \(raw: conformances.joined(separator: ", ")) {}
        """
      return [syntax.cast(ExtensionDeclSyntax.self)]
    }
  }
#endif
