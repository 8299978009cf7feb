/// A rule beside a table that the file does not keep as its catalog says, so that writers can break
/// it, or are refused for a reason that no rule gives.
///
/// Triggers go missing when a program rebuilds a table without them. ``Store/rebuildRules()`` makes
/// them anew.
public struct UnkeptRule: Hashable, Sendable {
  /// The rule's name.
  public let rule: String
  /// The names of its triggers and indexes that are missing, have another text, or belong to no
  /// rule of the catalog; sorted. Empty when the rule names a model or field that is not there any
  /// more: such a rule can only be dropped.
  public let objects: [String]
}
