/// The version of the compiled form of bindings, rules and the change journal.
package enum CompiledForm {
  /// Increase this whenever the same declarations compile to other tables, indexes or triggers. A
  /// file stores the form it was last checked for, and opening checks it again for another form. A
  /// test compares a hash of the compiled objects, so that no change is forgotten.
  package static let current = 3
}
