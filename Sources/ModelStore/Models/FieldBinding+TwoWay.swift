// Two fields that follow each other.
extension FieldBinding {
  /// Keeps two fields of one record in step: whichever is written, the other one follows.
  ///
  /// - Parameters:
  ///   - forward: The SQL expression over the record that `right` follows; the left field itself
  ///     when nil.
  ///   - backward: The SQL expression that `left` follows; the right field itself when nil.
  ///   - conflict: Which one follows when one statement writes both unlike each other. An inserted
  ///     record's field that holds its default counts as not written while the other one does not.
  ///   - initially: Which one is right when the binding is new, or is rebuilt.
  ///   - name: What events and errors call the binding; the right field when nil.
  public static func twoWay<M: Model>(
    _ left: any PartialKeyPath<M> & Sendable, _ right: any PartialKeyPath<M> & Sendable,
    forward: String? = nil, backward: String? = nil,
    conflict: BindingConflict = .leftWins,
    initially: BindingSide = .left, name: String? = nil
  ) -> FieldBinding {
    twoWay(
      Endpoint(left), Endpoint(right), .sameRecord,
      Ways(forward: forward, backward: backward, conflict: conflict, initially: initially), name)
  }

  /// Keeps a field of a record and one of the record that refers to it in step. The reference must
  /// be unique: one record each.
  ///
  /// - Parameters:
  ///   - left: A field of the record that is referred to.
  ///   - right: A field of the record that refers.
  ///   - conflict: Which one follows when two records are brought together that differ.
  public static func twoWay<Left: Model, Right: Model>(
    _ left: any PartialKeyPath<Left> & Sendable, _ right: any PartialKeyPath<Right> & Sendable,
    through reference: any PartialKeyPath<Right> & Sendable, forward: String? = nil,
    backward: String? = nil, conflict: BindingConflict = .leftWins,
    initially: BindingSide = .left, name: String? = nil
  ) -> FieldBinding {
    twoWay(
      Endpoint(left), Endpoint(right), .through(Endpoint(reference), isOfTarget: true),
      Ways(forward: forward, backward: backward, conflict: conflict, initially: initially), name)
  }

  /// Keeps fields of two records in step that have equal values in other fields, which must be
  /// unique in both models.
  public static func twoWay<Left: Model, Right: Model>(
    _ left: any PartialKeyPath<Left> & Sendable, _ right: any PartialKeyPath<Right> & Sendable,
    matching match: BindingMatch<Left, Right>,
    _ others: BindingMatch<Left, Right>..., forward: String? = nil, backward: String? = nil,
    conflict: BindingConflict = .leftWins,
    initially: BindingSide = .left, name: String? = nil
  ) -> FieldBinding {
    twoWay(
      Endpoint(left), Endpoint(right), .match(([match] + others).map { ($0.source, $0.target) }),
      Ways(forward: forward, backward: backward, conflict: conflict, initially: initially), name)
  }

  private struct Ways {
    let forward: String?
    let backward: String?
    let conflict: BindingConflict
    let initially: BindingSide
  }

  private static func twoWay(
    _ left: Endpoint, _ right: Endpoint, _ link: Link, _ ways: Ways, _ name: String?
  ) -> FieldBinding {
    // The names are filled in when the models are known.
    let twoWay = BindingSchema.TwoWay(
      left: BindingSchema.Field(model: "", field: ""), match: [], forward: ways.forward,
      backward: ways.backward, conflict: ways.conflict, initially: ways.initially)
    return FieldBinding(formula: .twoWay(left: left, link, twoWay), target: right, name: name)
  }
}
