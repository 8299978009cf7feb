extension StoreQuery {
  /// A condition for one model, built from key paths or read from text by ``PredicateParser``.
  public struct Predicate: Hashable, Sendable {
    /// The condition.
    package let condition: Condition

    /// Creates a predicate from `condition`.
    package init(_ condition: Condition) {
      self.condition = condition
    }

    /// Returns an SQL expression over the model's columns as a predicate. Interpolated values
    /// become arguments.
    ///
    /// A live query with raw SQL is re-executed after every change that may affect it.
    public static func sql(_ text: SQLText) -> Predicate {
      Predicate(.sql(text))
    }

    /// True when both are true; unknown AND false is false.
    public static func && (left: Predicate, right: Predicate) -> Predicate {
      Predicate(left.condition.and(right.condition))
    }

    /// True when one of them is true; unknown OR true is true.
    public static func || (left: Predicate, right: Predicate) -> Predicate {
      Predicate(left.condition.or(right.condition))
    }

    /// True when the operand is false. NOT unknown is unknown, so records whose comparison found
    /// NULL are selected neither with nor without the `!`.
    public static prefix func ! (operand: Predicate) -> Predicate {
      Predicate(.not(operand.condition))
    }
  }

  /// One step of a model's order, built from a key path.
  public struct Ordering: Hashable, Sendable {
    let ordering: QueryOrdering

    /// Returns the same step with NULLs before or after all values.
    package func nulls(_ placement: QueryOrdering.NullPlacement) -> Ordering {
      var ordering = ordering
      ordering.nulls = placement
      return Ordering(ordering: ordering)
    }

    /// Returns the same step with text compared by `collation`.
    public func collate(_ collation: Collation) -> Ordering {
      var ordering = ordering
      ordering.collation = collation
      return Ordering(ordering: ordering)
    }
  }
}

/// Collects the steps of an order, most significant first. The closure of an order uses it; you
/// never name it yourself.
@resultBuilder
public enum OrderingBuilder<M: Model> {
  /// A field alone: ascending, NULLs first.
  public static func buildExpression<V>(_ field: Field<M, V>) -> [StoreQuery<M>.Ordering] {
    [StoreQuery<M>.Ordering(ordering: QueryOrdering(fieldIndex: field.index))]
  }

  /// A field with direction, NULL placement or collation.
  public static func buildExpression(_ step: StoreQuery<M>.Ordering) -> [StoreQuery<M>.Ordering] {
    [step]
  }

  /// The steps one after another.
  public static func buildBlock(_ steps: [StoreQuery<M>.Ordering]...) -> [StoreQuery<M>.Ordering] {
    steps.flatMap { $0 }
  }

  /// The steps of an `if` without `else`.
  public static func buildOptional(_ steps: [StoreQuery<M>.Ordering]?) -> [StoreQuery<M>.Ordering] {
    steps ?? []
  }

  /// The steps of an `if`.
  public static func buildEither(first steps: [StoreQuery<M>.Ordering]) -> [StoreQuery<M>.Ordering]
  { steps }

  /// The steps of an `else`.
  public static func buildEither(second steps: [StoreQuery<M>.Ordering]) -> [StoreQuery<M>.Ordering]
  { steps }
}

extension Model {
  /// All records, in the order of their keys.
  public static var all: StoreQuery<Self> { StoreQuery(schema) }

  /// The records for which the condition is true, in the order of their keys.
  ///
  /// ```swift
  /// Track.where { $0.milliseconds > 300_000 && $0.genreID == nil }
  /// ```
  public static func `where`(
    _ condition: (FieldReferences<Self>) -> StoreQuery<Self>.Predicate
  ) -> StoreQuery<Self> {
    all.filter(condition)
  }
}

extension StoreQuery where Element: Model {
  /// Returns the records that also meet `condition`.
  public func filter(_ condition: (FieldReferences<Element>) -> Predicate) -> Self {
    filter(condition(FieldReferences()).condition)
  }

  /// Returns the same records in another order, which replaces the previous order; the key decides
  /// ties.
  ///
  /// ```swift
  /// Track.all.order {
  ///   $0.genreID.nullsLast
  ///   $0.title.descending.collate(.nocase)
  /// }
  /// ```
  public func order(
    @OrderingBuilder<Element> _ steps: (FieldReferences<Element>) -> [Ordering]
  ) -> Self {
    order(by: steps(FieldReferences()))
  }

  /// Returns the SELECT for one aggregate over the field at `path`.
  ///
  /// - Throws: ``StoreError`` with code `invalidQuery` for the sum or mean of a field without
  ///   numbers, and for the smallest or largest decimal, because decimals are stored as text.
  /// - Precondition: `path` is a stored field.
  package func aggregateText<V: ColumnValue>(
    _ aggregate: Aggregate, of path: any KeyPath<Element, V> & Sendable
  ) throws(StoreError) -> SQLText {
    try aggregateText(aggregate, of: FieldReferences<Element>().index(of: path))
  }
}

extension Field {
  /// Ascending, with NULLs before all values, which is the default.
  public var nullsFirst: StoreQuery<M>.Ordering { nulls(.first) }

  /// Ascending, with NULLs after all values.
  public var nullsLast: StoreQuery<M>.Ordering { nulls(.last) }
}

extension StoreQuery.Ordering {
  /// The same step with NULLs before all values.
  public var nullsFirst: Self { nulls(.first) }

  /// The same step with NULLs after all values.
  public var nullsLast: Self { nulls(.last) }
}

// Predicates and orders that were read from text.
extension StoreQuery {
  /// Returns the records that also meet `predicate`.
  public func filter(matching predicate: Predicate) -> Self { filter(predicate.condition) }

  /// Returns the same records in another order, which replaces the previous order; the key decides
  /// ties.
  public func order(by steps: [Ordering]) -> Self { order(steps.map(\.ordering)) }
}

extension PredicateParser {
  /// Reads a condition, for ``StoreQuery/filter(matching:)``.
  ///
  /// ```swift
  /// let parser = PredicateParser(schema: Track.schema, now: .now)
  /// let long = Track.all.filter(matching: try parser.predicate(parsing: "milliseconds > 300000"))
  /// ```
  ///
  /// - Throws: ``StoreError`` with code `invalidQuery`, `unknownField` or `invalidValue`, which
  ///   quotes the wrong token.
  public func predicate<Element>(
    parsing text: String
  ) throws(StoreError) -> StoreQuery<Element>.Predicate {
    StoreQuery<Element>.Predicate(try Self.inTermsOfTheStore(text, condition(parsing:)))
  }

  /// Reads field names separated by commas, most significant first, for ``StoreQuery/order(by:)``;
  /// `-` before a name means descending: `-due,title`.
  ///
  /// - Throws: As ``predicate(parsing:)``.
  public func order<Element>(
    parsing text: String
  ) throws(StoreError) -> [StoreQuery<Element>.Ordering] {
    let steps = try Self.inTermsOfTheStore(text, orderings(parsing:))
    return steps.map { StoreQuery<Element>.Ordering(ordering: $0) }
  }

  private static func inTermsOfTheStore<Result>(
    _ text: String, _ parse: (String) throws(PredicateTextError) -> Result
  ) throws(StoreError) -> Result {
    do throws(PredicateTextError) {
      return try parse(text)
    } catch {
      throw error.storeError
    }
  }
}
