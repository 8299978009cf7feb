/// A value computed from several records of one model, for
/// ``FieldBinding/aggregate(_:into:through:where:name:)``.
public struct Aggregation<Source: Model>: Sendable {
  let parts: FieldBinding.AggregateParts

  private init(
    _ function: BindingSchema.Aggregate.Function, _ field: FieldBinding.Endpoint? = nil,
    expression: String? = nil, scale: Int? = nil, order: FieldBinding.Endpoint? = nil,
    separator: String? = nil
  ) {
    parts = FieldBinding.AggregateParts(
      function: function, model: Source.schema.name, field: field, expression: expression,
      scale: scale, order: order, separator: separator)
  }

  /// The number of records; 0 if there are none.
  public static var count: Aggregation { Aggregation(.count) }

  /// The number of values of `field`, without nil.
  public static func count(_ field: any PartialKeyPath<Source> & Sendable) -> Aggregation {
    Aggregation(.count, FieldBinding.Endpoint(field))
  }

  /// The exact sum of whole numbers; 0 if there are none. A write that makes it overflow is
  /// refused.
  public static func sum(_ field: any PartialKeyPath<Source> & Sendable) -> Aggregation {
    Aggregation(.sum, FieldBinding.Endpoint(field))
  }

  /// The exact sum of an SQL expression, such as `quantity * price`, over the columns of each
  /// record; 0 if there are none. Records for which it is NULL do not count.
  ///
  /// The expression is deterministic and computes whole numbers from columns of the record, with
  /// built-in functions only. With a scale it is computed exactly for decimals, and the target is a
  /// decimal. Such an expression only adds, subtracts and multiplies columns and numbers.
  ///
  /// A write is refused if a value is not a whole number, if a decimal has more digits than `scale`
  /// or more than 18 in total, or if a value or the sum exceeds 64 bits.
  ///
  /// - Parameter scale: The most digits that a decimal in the expression has after its point, 0 to
  ///   18; nil if it names no decimal. Those of a product add up, to 18 at most.
  public static func sum(of expression: String, scale: Int? = nil) -> Aggregation {
    Aggregation(.sum, expression: expression, scale: scale)
  }

  /// The mean of an SQL expression over the columns of each record, stored in a real field. Records
  /// for which it is NULL do not count.
  ///
  /// - Parameter scale: As for ``sum(of:scale:)``, which describes the expression.
  public static func average(of expression: String, scale: Int? = nil) -> Aggregation {
    Aggregation(.average, expression: expression, scale: scale)
  }

  /// The smallest value of an SQL expression over the columns of each record, without NULL, in
  /// SQLite's order. The expression is deterministic, with built-in functions only, and names no
  /// decimals.
  public static func minimum(of expression: String) -> Aggregation {
    Aggregation(.minimum, expression: expression)
  }

  /// The largest value of an SQL expression over the columns of each record, as
  /// ``minimum(of:)``.
  public static func maximum(of expression: String) -> Aggregation {
    Aggregation(.maximum, expression: expression)
  }

  /// The mean of whole numbers, without nil, stored in a real field.
  public static func average(_ field: any PartialKeyPath<Source> & Sendable) -> Aggregation {
    Aggregation(.average, FieldBinding.Endpoint(field))
  }

  /// The smallest value, without nil, in SQLite's order.
  public static func minimum(_ field: any PartialKeyPath<Source> & Sendable) -> Aggregation {
    Aggregation(.minimum, FieldBinding.Endpoint(field))
  }

  /// The largest value, without nil, in SQLite's order.
  public static func maximum(_ field: any PartialKeyPath<Source> & Sendable) -> Aggregation {
    Aggregation(.maximum, FieldBinding.Endpoint(field))
  }

  /// The value of the first record, ordered by `order` and then the key; by the key alone when nil.
  public static func first(
    _ field: any PartialKeyPath<Source> & Sendable,
    by order: (any PartialKeyPath<Source> & Sendable)? = nil
  ) -> Aggregation {
    Aggregation(
      .first, FieldBinding.Endpoint(field), order: order.map { FieldBinding.Endpoint($0) })
  }

  /// The value of the last record, ordered by `order` and then the key; by the key alone when nil.
  public static func last(
    _ field: any PartialKeyPath<Source> & Sendable,
    by order: (any PartialKeyPath<Source> & Sendable)? = nil
  ) -> Aggregation {
    Aggregation(.last, FieldBinding.Endpoint(field), order: order.map { FieldBinding.Endpoint($0) })
  }

  /// All values joined to one text, without nil, ordered by `order` and then the key.
  public static func joined(
    _ field: any PartialKeyPath<Source> & Sendable, separator: String = ", ",
    by order: (any PartialKeyPath<Source> & Sendable)? = nil
  ) -> Aggregation {
    Aggregation(
      .joined, FieldBinding.Endpoint(field), order: order.map { FieldBinding.Endpoint($0) },
      separator: separator)
  }
}

// Aggregates: several records into one field.
extension FieldBinding {
  /// Keeps an aggregate over the records that refer to the target's record.
  ///
  /// Without any such record, a count or sum is 0. Every other aggregate is then the target's
  /// declared default, which a target that is not optional must have.
  ///
  /// - Parameters:
  ///   - condition: A deterministic SQL expression over the source's columns. Only records for
  ///     which it is true count.
  ///   - name: The name of the binding in events and errors; `Album.trackCount` when nil.
  /// - Complexity: The cost of a change of a source record does not grow with their number for a
  ///   count, sum or average, which is updated by adding and subtracting. A minimum, maximum, first
  ///   or last is looked up in an index of the binding, in O(log n). Joining reads all records of
  ///   one target.
  public static func aggregate<Source: Model, Target: Model>(
    _ aggregation: Aggregation<Source>, into target: any PartialKeyPath<Target> & Sendable,
    through reference: any PartialKeyPath<Source> & Sendable, where condition: String? = nil,
    name: String? = nil
  ) -> FieldBinding {
    FieldBinding(
      formula: .aggregate(
        aggregation.parts, .through(Endpoint(reference), isOfTarget: false), condition: condition),
      target: Endpoint(target), name: name)
  }

  /// Keeps an aggregate over the records whose fields equal those of the target's record. The
  /// target's matching fields must be unique.
  public static func aggregate<Source: Model, Target: Model>(
    _ aggregation: Aggregation<Source>, into target: any PartialKeyPath<Target> & Sendable,
    matching match: BindingMatch<Source, Target>,
    _ others: BindingMatch<Source, Target>..., where condition: String? = nil,
    name: String? = nil
  ) -> FieldBinding {
    FieldBinding(
      formula: .aggregate(
        aggregation.parts, .match(([match] + others).map { ($0.source, $0.target) }),
        condition: condition),
      target: Endpoint(target), name: name)
  }

  /// Keeps an aggregate over all records in one record: a singleton.
  ///
  /// - Parameter key: The key of that record, which need not exist yet.
  public static func aggregate<Source: Model, Target: Model>(
    _ aggregation: Aggregation<Source>, into target: any PartialKeyPath<Target> & Sendable,
    of key: Target.Key, where condition: String? = nil, name: String? = nil
  ) -> FieldBinding {
    FieldBinding(
      formula: .aggregate(
        aggregation.parts, .place { try key.sqlValues() }, condition: condition),
      target: Endpoint(target), name: name)
  }
}
