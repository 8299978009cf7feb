/// What several records of one model come to: for
/// ``FieldBinding/aggregate(_:into:through:where:name:)``.
public struct Aggregation<Source: Model>: Sendable {
  let parts: FieldBinding.AggregateParts

  private init(
    _ function: BindingSchema.Aggregate.Function, _ field: FieldBinding.Endpoint? = nil,
    order: FieldBinding.Endpoint? = nil, separator: String? = nil
  ) {
    parts = FieldBinding.AggregateParts(
      function: function, model: Source.schema.name, field: field, order: order,
      separator: separator)
  }

  /// How many records; 0 for none.
  public static var count: Aggregation { Aggregation(.count) }

  /// How many values of `field`, nil not counted.
  public static func count(_ field: any PartialKeyPath<Source> & Sendable) -> Aggregation {
    Aggregation(.count, FieldBinding.Endpoint(field))
  }

  /// The sum of whole numbers, exactly; 0 for none. A write that makes it too large is refused.
  public static func sum(_ field: any PartialKeyPath<Source> & Sendable) -> Aggregation {
    Aggregation(.sum, FieldBinding.Endpoint(field))
  }

  /// The mean of whole numbers, nil not counted, into a real field.
  public static func average(_ field: any PartialKeyPath<Source> & Sendable) -> Aggregation {
    Aggregation(.average, FieldBinding.Endpoint(field))
  }

  /// The smallest value, nil not counted, in SQLite's order.
  public static func minimum(_ field: any PartialKeyPath<Source> & Sendable) -> Aggregation {
    Aggregation(.minimum, FieldBinding.Endpoint(field))
  }

  /// The largest value, nil not counted, in SQLite's order.
  public static func maximum(_ field: any PartialKeyPath<Source> & Sendable) -> Aggregation {
    Aggregation(.maximum, FieldBinding.Endpoint(field))
  }

  /// The value of the first record in the order of `order` and then the key; by the key alone when
  /// nil.
  public static func first(
    _ field: any PartialKeyPath<Source> & Sendable,
    by order: (any PartialKeyPath<Source> & Sendable)? = nil
  ) -> Aggregation {
    Aggregation(
      .first, FieldBinding.Endpoint(field), order: order.map { FieldBinding.Endpoint($0) })
  }

  /// The value of the last record in the order of `order` and then the key; by the key alone when
  /// nil.
  public static func last(
    _ field: any PartialKeyPath<Source> & Sendable,
    by order: (any PartialKeyPath<Source> & Sendable)? = nil
  ) -> Aggregation {
    Aggregation(.last, FieldBinding.Endpoint(field), order: order.map { FieldBinding.Endpoint($0) })
  }

  /// All values as one text, nil not counted, in the order of `order` and then the key.
  public static func joined(
    _ field: any PartialKeyPath<Source> & Sendable, separator: String = ", ",
    by order: (any PartialKeyPath<Source> & Sendable)? = nil
  ) -> Aggregation {
    Aggregation(
      .joined, FieldBinding.Endpoint(field), order: order.map { FieldBinding.Endpoint($0) },
      separator: separator)
  }
}

// Several records into one field.
extension FieldBinding {
  /// Keeps what the records come to that refer to the target's record.
  ///
  /// A count and a sum are 0 where there are none; every other aggregate is the target's declared
  /// default then, which it must have when it is not optional.
  ///
  /// - Parameters:
  ///   - condition: A deterministic SQL expression over the source's columns; only records for
  ///     which it is true count.
  ///   - name: What events and errors call the binding; `Album.trackCount` when nil.
  /// - Complexity: A change of a source record costs the same however many there are: a count, sum
  ///   or average is kept by adding and subtracting, a minimum, maximum, first or last is looked up
  ///   over an index of the binding's own, in the logarithm of their number. Joining reads all
  ///   records of one target.
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

  /// Keeps what the records come to whose fields equal those of the target's record. The target's
  /// matching fields must be unique.
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

  /// Keeps what all records come to in one record: a singleton.
  ///
  /// - Parameter key: The key of that record. It need not be there yet.
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
