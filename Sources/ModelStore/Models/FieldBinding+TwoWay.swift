// Two fields that are kept in sync.
extension FieldBinding {
  /// Keeps two fields of one record in sync: when you write one, the other follows.
  ///
  /// - Parameters:
  ///   - left: The left end.
  ///   - right: The right end. Events and errors name it.
  ///   - forward: The SQL expression that computes the right end from the record; nil for the value
  ///     of the left end.
  ///   - backward: The SQL expression that computes the left end from the record; nil for the value
  ///     of the right end.
  ///   - conflict: Which end wins when one statement gives both ends values that differ, or when a
  ///     condition becomes true and the ends differ. In an inserted record, and when a condition
  ///     becomes true, an end that holds its default gives way. If a statement changes only another
  ///     field of an expression, the left end wins, unless it alone holds its default.
  ///   - initially: Which end wins in stored records when the binding is added or rebuilt.
  ///   - name: What events and errors call the binding; nil for the name of the right field.
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
  /// must be unique, so that each record has one partner at most.
  ///
  /// When you change one end, or another field that its expression uses, the other end follows.
  ///
  /// - Parameters:
  ///   - left: A field of the record that is referred to.
  ///   - right: A field of the record that refers.
  ///   - reference: The field of the right model with the key of the left record.
  ///   - forward: The SQL expression that computes the right end from the left record; nil for the
  ///     value of the left end.
  ///   - backward: The SQL expression that computes the left end from the right record; nil for the
  ///     value of the right end.
  ///   - conflict: Which end wins when two records become partners, or a condition becomes true,
  ///     and the ends differ. If the same UPDATE changes an end, that end wins. Otherwise an end
  ///     that holds its default gives way, whatever you pass here.
  ///   - initially: Which end wins in stored records when the binding is added or rebuilt.
  ///   - name: What events and errors call the binding; nil for the name of the right field.
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

  /// Keeps fields of two records in sync that have equal values in other fields, which must be
  /// unique in both models. Everything else is as for a reference:
  /// ``twoWay(_:_:through:forward:backward:conflict:initially:name:)``.
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
