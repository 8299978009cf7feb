extension Query {
  /// A condition that belongs to one model, built from key paths. For text and dynamic records use
  /// ``Condition`` itself.
  public struct Predicate: Hashable, Sendable {
    /// The condition.
    public let condition: Condition

    /// The predicate that asks for `condition`.
    public init(_ condition: Condition) {
      self.condition = condition
    }

    /// An SQL expression over the model's columns; interpolated values become arguments.
    ///
    /// A live query with raw SQL is run again after every change that may touch it.
    public static func sql(_ text: SQLText) -> Predicate {
      Predicate(.sql(text))
    }

    /// True when both are; unknown AND false is false.
    public static func && (left: Predicate, right: Predicate) -> Predicate {
      Predicate(left.condition.and(right.condition))
    }

    /// True when one of them is; unknown OR true is true.
    public static func || (left: Predicate, right: Predicate) -> Predicate {
      Predicate(left.condition.or(right.condition))
    }

    /// True when the operand is false. NOT unknown is unknown, so records whose comparison met
    /// NULL are selected neither with nor without the `!`.
    public static prefix func ! (operand: Predicate) -> Predicate {
      Predicate(.not(operand.condition))
    }
  }

  /// One step of a model's order, built from a key path.
  public struct Ordering: Hashable, Sendable {
    let ordering: QueryOrdering

    /// The same step with NULLs before or after all values.
    public func nulls(_ placement: QueryOrdering.NullPlacement) -> Ordering {
      var ordering = ordering
      ordering.nulls = placement
      return Ordering(ordering: ordering)
    }

    /// The same step with text compared by `collation`.
    public func collate(_ collation: Collation) -> Ordering {
      var ordering = ordering
      ordering.collation = collation
      return Ordering(ordering: ordering)
    }
  }
}

/// Collects the steps of an order, most significant first. It is what an order's closure is
/// written in, and nothing to be named in a program.
@resultBuilder
public enum OrderingBuilder<M: Model> {
  /// A field alone: ascending, NULLs first.
  public static func buildExpression<V>(_ field: Field<M, V>) -> [QueryOrdering] {
    [QueryOrdering(fieldIndex: field.index)]
  }

  /// A field with direction, NULL placement or collation.
  public static func buildExpression(_ step: Query<M>.Ordering) -> [QueryOrdering] {
    [step.ordering]
  }

  /// The steps one after another.
  public static func buildBlock(_ steps: [QueryOrdering]...) -> [QueryOrdering] {
    steps.flatMap { $0 }
  }

  /// The steps of an `if` without `else`.
  public static func buildOptional(_ steps: [QueryOrdering]?) -> [QueryOrdering] {
    steps ?? []
  }

  /// The steps of an `if`.
  public static func buildEither(first steps: [QueryOrdering]) -> [QueryOrdering] { steps }

  /// The steps of an `else`.
  public static func buildEither(second steps: [QueryOrdering]) -> [QueryOrdering] { steps }
}

extension Model {
  /// All records, in the order of their keys.
  public static var all: Query<Self> { Query(schema) }

  /// The records for which the condition is true, in the order of their keys.
  ///
  /// ```swift
  /// Track.where { $0.milliseconds > 300_000 && $0.genreID == nil }
  /// ```
  public static func `where`(
    _ condition: (FieldReferences<Self>) -> Query<Self>.Predicate
  ) -> Query<Self> {
    all.filter(condition)
  }
}

extension Query where Element: Model {
  /// The records that also meet `condition`.
  public func filter(_ condition: (FieldReferences<Element>) -> Predicate) -> Self {
    filter(condition(FieldReferences()).condition)
  }

  /// The same records in another order, which replaces the present one; the key decides ties.
  ///
  /// ```swift
  /// Track.all.order {
  ///   $0.genreID.nulls(.last)
  ///   $0.title.descending.collate(.nocase)
  /// }
  /// ```
  public func order(
    @OrderingBuilder<Element> _ steps: (FieldReferences<Element>) -> [QueryOrdering]
  ) -> Self {
    order(steps(FieldReferences()))
  }

  /// The SELECT for one aggregate over the field at `path`.
  ///
  /// - Throws: ``StoreError`` with code `invalidQuery` for the sum or mean of a field without
  ///   numbers, and for the smallest or largest of a decimal, which is kept as text.
  /// - Precondition: `path` is a stored field.
  public func aggregateText<V: ColumnValue>(
    _ aggregate: Aggregate, of path: any KeyPath<Element, V> & Sendable
  ) throws(StoreError) -> SQLText {
    try aggregateText(aggregate, of: FieldReferences<Element>().index(of: path))
  }
}
