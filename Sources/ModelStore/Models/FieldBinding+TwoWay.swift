// Two fields that are kept in sync.
extension FieldBinding {
  /// Keeps two fields of one record in sync. Writing either of them updates the other.
  ///
  /// - Parameters:
  ///   - forward: The SQL expression for the value of `right`; the left field itself when nil.
  ///   - backward: The SQL expression for the value of `left`; the right field itself when nil.
  ///   - conflict: Which field is updated when one statement writes different values to both. In an
  ///     inserted record, a field with its default counts as not written if the other field has
  ///     another value.
  ///   - initially: Which field is correct when the binding is new, or is rebuilt.
  ///   - name: The name of the binding in events and errors; the right field when nil.
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

  /// Keeps a field of a record in sync with a field of the record that refers to it. The reference
  /// must be unique, so that there is one record at each end.
  ///
  /// - Parameters:
  ///   - left: A field of the record that is referred to.
  ///   - right: A field of the record that refers.
  ///   - conflict: Which field is updated when two records with different values are linked.
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

  /// Keeps fields of two records in sync if the records have equal values in other fields. These
  /// fields must be unique in both models.
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
