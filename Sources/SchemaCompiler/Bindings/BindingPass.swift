/// One statement over all records of a model that brings a binding in line.
package struct BindingPass: Hashable, Sendable {
  package let model: ModelSchema
  /// Ends in a WHERE clause that another condition can be added to.
  package let statement: String
  /// What follows that clause.
  package var end = ""
}
