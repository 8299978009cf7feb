/// The fields of a model while a query is being built. `$0.title` names the column; it reads
/// nothing.
@dynamicMemberLookup
public struct FieldReferences<M: Model>: Sendable {
  init() {}

  /// The field at `path`.
  ///
  /// - Precondition: `path` is a stored field of the model, not a computed property.
  public subscript<V: ColumnValue>(
    dynamicMember path: any KeyPath<M, V> & Sendable
  ) -> Field<M, V> {
    let index = index(of: path)
    return Field(index: index, type: M.schema.fields[index].type)
  }

  func index(of path: any PartialKeyPath<M> & Sendable) -> Int {
    guard let index = M.definition.fieldIndex(of: path) else {
      preconditionFailure("A query cannot use this key path. \(M.definition.notStored(path))")
    }
    return index
  }
}

extension FieldReferences where M.Key: ColumnValue {
  /// The only field of the model's key, whatever its name.
  ///
  /// - Precondition: The key has one field. If it has several, use these.
  public var key: Field<M, M.Key> {
    let schema = M.schema
    guard schema.key.count == 1, let index = schema.fieldIndex(named: schema.key[0]) else {
      preconditionFailure(
        "A query cannot use \(schema.name).key, which has several fields. Use the fields \(schema.key.joined(separator: ", "))."
      )
    }
    return Field(index: index, type: schema.fields[index].type)
  }
}

/// A field named in a query, for comparisons and orders. It is not a value and cannot be read.
///
/// A value that cannot be stored (NaN, an integer beyond 64 bits) makes the whole condition throw
/// when the query is used. It is never ignored.
public struct Field<M: Model, V: ColumnValue>: Sendable {
  let index: Int
  let type: FieldType

  /// The same field as an optional, to compare it with an optional field:
  /// `$0.title.optional == $0.originalTitle`.
  public var optional: Field<M, V?> { Field<M, V?>(index: index, type: type) }

  /// From the largest to the smallest, with NULLs last by default; see
  /// ``StoreQuery/Ordering/nullsFirst``.
  public var descending: StoreQuery<M>.Ordering {
    StoreQuery.Ordering(ordering: QueryOrdering(fieldIndex: index, direction: .descending))
  }

  /// Ascending, with NULLs before or after all values.
  package func nulls(_ placement: QueryOrdering.NullPlacement) -> StoreQuery<M>.Ordering {
    StoreQuery.Ordering(ordering: QueryOrdering(fieldIndex: index, nulls: placement))
  }

  /// Ascending, with text compared by `collation`.
  public func collate(_ collation: Collation) -> StoreQuery<M>.Ordering {
    StoreQuery.Ordering(ordering: QueryOrdering(fieldIndex: index, collation: collation))
  }

  /// Whether the field is NULL. Never unknown.
  public var isNull: StoreQuery<M>.Predicate { StoreQuery.Predicate(.isNull(.field(index))) }

  /// Whether the field has a value. Never unknown.
  public var isNotNull: StoreQuery<M>.Predicate { StoreQuery.Predicate(.isNotNull(.field(index))) }

  /// Whether the field is one of `values`. A nil among them matches nothing; use ``isNull`` too.
  ///
  /// SQLite accepts at most 32,766 values by default.
  public func `in`(_ values: some Sequence<V>) -> StoreQuery<M>.Predicate {
    predicate { () throws(ColumnError) in
      var list: [SQLValue] = []
      for value in values { list.append(try value.sqlValue()) }
      return .isIn(.field(index), list)
    }
  }

  /// Whether an optional field is one of `values`; unknown for NULL.
  public func `in`<Wrapped: ColumnValue>(
    _ values: some Sequence<Wrapped>
  ) -> StoreQuery<M>.Predicate where V == Wrapped? {
    self.in(values.map { Optional($0) })
  }

  /// Whether the field is between two values, both included; unknown for NULL.
  public func between(_ lower: V, _ upper: V) -> StoreQuery<M>.Predicate {
    predicate(needsOrder: true) { () throws(ColumnError) in
      .between(
        .field(index), lower: .value(try lower.sqlValue()), upper: .value(try upper.sqlValue()))
    }
  }

  /// Whether field and value differ. NULL differs from every value but not from nil: SQL's
  /// `IS NOT`. Never unknown, so unlike `!=` it also selects records without a value.
  public func isDistinct(from value: V?) -> StoreQuery<M>.Predicate {
    comparison(.isDistinct, value)
  }

  func comparison(_ comparison: Condition.Comparison, _ value: V?) -> StoreQuery<M>.Predicate {
    predicate(needsOrder: comparison.needsOrder) { () throws(ColumnError) in
      let stored = try value.sqlValue()
      switch (comparison, stored) {
      case (.equal, .null): return .isNull(.field(index))
      case (.notEqual, .null): return .isNotNull(.field(index))
      default: return .comparison(.field(index), comparison, .value(stored))
      }
    }
  }

  func comparison<Other>(
    _ comparison: Condition.Comparison, with other: Field<M, Other>
  ) -> StoreQuery<M>.Predicate {
    predicate(needsOrder: comparison.needsOrder) { () throws(ColumnError) in
      .comparison(.field(index), comparison, .field(other.index))
    }
  }

  private func predicate(
    needsOrder: Bool = false, _ condition: () throws(ColumnError) -> Condition
  ) -> StoreQuery<M>.Predicate {
    if needsOrder, type == .decimal {
      return StoreQuery.Predicate(
        .invalid(
          field: index, reason: "a decimal is stored as text and cannot be compared by size in SQL")
      )
    }
    do {
      return StoreQuery.Predicate(try condition())
    } catch {
      return StoreQuery.Predicate(.invalid(field: index, reason: error.description))
    }
  }
}
