internal import ModelMacroExpansion
internal import SwiftSyntax
internal import SwiftSyntaxBuilder
internal import SwiftSyntaxMacroExpansion
internal import SwiftSyntaxMacros
internal import SwiftSyntaxMacrosGenericTestSupport
internal import Testing

private struct ModelMacro: ModelExpansion {}
private struct FieldMarkerMacro: FieldMarkerExpansion {}

private let macroSpecs: [String: MacroSpec] = [
  "Model": MacroSpec(type: ModelMacro.self, conformances: ["Model", "Identifiable"]),
  "Key": MacroSpec(type: FieldMarkerMacro.self),
  "Unique": MacroSpec(type: FieldMarkerMacro.self),
  "Column": MacroSpec(type: FieldMarkerMacro.self),
  "Validate": MacroSpec(type: FieldMarkerMacro.self),
  "Reference": MacroSpec(type: FieldMarkerMacro.self),
  "Ordered": MacroSpec(type: FieldMarkerMacro.self),
]

/// Expects the whole text that the macros make of `source`, and no complaint.
func expectExpansion(
  of source: String, _ expanded: String,
  location: Testing.SourceLocation = #_sourceLocation
) {
  assertMacroExpansion(
    source, expandedSource: expanded, macroSpecs: macroSpecs, indentationWidth: .spaces(2),
    failureHandler: { Issue.record("\($0.message)", sourceLocation: location) })
}

/// Expects that `source` is refused with one message at a line and column, counted from 1, that it
/// is left as `expanded`, and that the fix-it called `remedy` turns it into `fixed`.
func expectRefusal(
  of source: String, leaving expanded: String, line: Int = 1, column: Int, _ message: String,
  remedy: String? = nil, fixed: String? = nil,
  location: Testing.SourceLocation = #_sourceLocation
) {
  let fixIts = remedy.map { [FixItSpec(message: $0)] } ?? []
  assertMacroExpansion(
    source, expandedSource: expanded,
    diagnostics: [DiagnosticSpec(message: message, line: line, column: column, fixIts: fixIts)],
    macroSpecs: macroSpecs, fixedSource: fixed, indentationWidth: .spaces(2),
    failureHandler: { Issue.record("\($0.message)", sourceLocation: location) })
}
