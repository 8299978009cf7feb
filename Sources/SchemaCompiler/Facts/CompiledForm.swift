/// The form of what bindings, rules and the change journal are compiled to.
package enum CompiledForm {
  /// Rises whenever the same declarations make other tables, indexes or triggers than before: files
  /// count as in order for the form that they were brought in line with, and opening looks at them
  /// again for another one. A test records a hash of what is compiled, so that none is forgotten.
  package static let current = 1
}
