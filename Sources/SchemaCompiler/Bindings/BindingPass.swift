/// One statement over all records of a model that updates a binding's values.
package struct BindingPass: Hashable, Sendable {
  package let model: ModelSchema
  /// Ends in a WHERE clause to which another condition can be added.
  package let statement: String
  /// The text after that clause.
  package var end = ""
}
