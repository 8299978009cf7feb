#if Macros
  internal import ModelMacroExpansion
  internal import SwiftCompilerPlugin
  internal import SwiftSyntaxMacros

  /// The program that the compiler runs for the package's macros.
  ///
  /// It declares only the types that the compiler looks up by their module and name. What they do
  /// is in ModelMacroExpansion, a library: SwiftPM compiles whatever a test of a macro target uses
  /// a second time, for the compiler's machine.
  @main
  struct Plugin: CompilerPlugin {
    let providingMacros: [any Macro.Type] = [ModelMacro.self, FieldMarkerMacro.self]
  }

  struct ModelMacro: ModelExpansion {}

  struct FieldMarkerMacro: FieldMarkerExpansion {}
#else
  /// Without the trait there is no macro.
  @main enum Plugin {
    static func main() {}
  }
#endif
