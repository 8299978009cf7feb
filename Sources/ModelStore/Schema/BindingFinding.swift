/// A binding that the file does not keep as its catalog says.
///
/// Triggers go missing when a program rebuilds a table without them; a value differs when a record
/// was written meanwhile. ``Store/rebuildBindings()`` mends both.
public struct BindingFinding: Hashable, Sendable {
  /// The binding's name.
  public let binding: String
  /// The names of its triggers that are missing, have another text, or belong to no binding of the
  /// catalog; sorted.
  public let triggers: [String]
  /// How many records do not hold the value that the binding gives them.
  public let recordCount: Int
}
