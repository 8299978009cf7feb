public import ModelStore

extension Model {
  /// The name of the model's table. A `@Model` struct has it as a constant of its own, so that
  /// definitions can name each other's tables in a circle; this one is for models written by hand.
  public static var tableName: String { schema.table }
}
