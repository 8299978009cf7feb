// One-way bindings.
extension FieldBinding {
  /// Copies `source` of the record that `reference` names into `target`.
  ///
  /// While the reference is NULL or its record does not exist, `target` holds its declared default.
  /// A target that is not optional must have one.
  ///
  /// - Parameter name: The name of the binding in events and errors; `Album.artistName` when nil.
  /// - Complexity: A change of the source updates the records that refer to it, found by an index
  ///   on `reference`. A change of a reference reads one source record.
  public static func copy<Source: Model, Target: Model, Value: ColumnValue>(
    _ source: any KeyPath<Source, Value> & Sendable,
    to target: any KeyPath<Target, Value> & Sendable,
    through reference: any KeyPath<Target, Source.Key?> & Sendable, name: String? = nil
  ) -> FieldBinding {
    copy(Endpoint(source), to: Endpoint(target), through: Endpoint(reference), name: name)
  }

  /// Copies `source` of the record that `reference` names into `target`.
  ///
  /// Even if the reference cannot be NULL, its record may not exist while foreign keys are deferred
  /// or off. `target` then holds its declared default, or keeps its value when it has none.
  ///
  /// - Parameter name: The name of the binding in events and errors; `Album.artistName` when nil.
  public static func copy<Source: Model, Target: Model, Value: ColumnValue>(
    _ source: any KeyPath<Source, Value> & Sendable,
    to target: any KeyPath<Target, Value> & Sendable,
    through reference: any KeyPath<Target, Source.Key> & Sendable, name: String? = nil
  ) -> FieldBinding {
    copy(Endpoint(source), to: Endpoint(target), through: Endpoint(reference), name: name)
  }

  /// Copies `source` of the record that `reference` names into the optional `target`. While the
  /// reference is nil or its record does not exist, `target` is nil or its declared default.
  ///
  /// - Parameter name: The name of the binding in events and errors; `Album.artistName` when nil.
  public static func copy<Source: Model, Target: Model, Value: ColumnValue>(
    _ source: any KeyPath<Source, Value> & Sendable,
    to target: any KeyPath<Target, Value?> & Sendable,
    through reference: any KeyPath<Target, Source.Key?> & Sendable, name: String? = nil
  ) -> FieldBinding {
    copy(Endpoint(source), to: Endpoint(target), through: Endpoint(reference), name: name)
  }

  /// Copies `source` of the record that `reference` names into the optional `target`. While that
  /// record does not exist, `target` is nil or its declared default.
  ///
  /// - Parameter name: The name of the binding in events and errors; `Album.artistName` when nil.
  public static func copy<Source: Model, Target: Model, Value: ColumnValue>(
    _ source: any KeyPath<Source, Value> & Sendable,
    to target: any KeyPath<Target, Value?> & Sendable,
    through reference: any KeyPath<Target, Source.Key> & Sendable, name: String? = nil
  ) -> FieldBinding {
    copy(Endpoint(source), to: Endpoint(target), through: Endpoint(reference), name: name)
  }

  /// Derives `target` from other fields of the same record.
  ///
  /// - Parameters:
  ///   - sql: A deterministic SQL expression over the record's columns, with built-in functions
  ///     only: `"lower(title)"`. No subqueries, no clock.
  ///   - name: The name of the binding in events and errors; `Track.slug` when nil.
  public static func derive<Target: Model, Value: ColumnValue>(
    _ target: any KeyPath<Target, Value> & Sendable, from sql: String, name: String? = nil
  ) -> FieldBinding {
    FieldBinding(formula: .derive(sql: sql), target: Endpoint(target), name: name)
  }

  /// Copies between fields named as `Model.field`, for models without a Swift type.
  ///
  /// `.copy(from: "Artist.Name", to: "Album.ArtistName", through: "Album.ArtistId")`
  public static func copy(
    from source: String, to target: String, through reference: String, name: String? = nil
  ) -> FieldBinding {
    copy(.text(source), to: .text(target), through: .text(reference), name: name)
  }

  /// Derives the field named as `Model.field` from other columns of the same record.
  ///
  /// `.derive(to: "Track.slug", from: "lower(title)")`
  public static func derive(to target: String, from sql: String, name: String? = nil)
    -> FieldBinding
  {
    FieldBinding(formula: .derive(sql: sql), target: .text(target), name: name)
  }

  private static func copy(
    _ source: Endpoint, to target: Endpoint, through reference: Endpoint, name: String?
  ) -> FieldBinding {
    FieldBinding(formula: .copy(source: source, through: reference), target: target, name: name)
  }

  /// Copies `source` of the same record into `target`.
  ///
  /// - Parameter name: The name of the binding in events and errors; `Track.title` when nil.
  public static func copy<Target: Model, Value: ColumnValue>(
    _ source: any KeyPath<Target, Value> & Sendable,
    to target: any KeyPath<Target, Value> & Sendable,
    name: String? = nil
  ) -> FieldBinding {
    FieldBinding(formula: .same(source: Endpoint(source)), target: Endpoint(target), name: name)
  }

  /// Copies `source` of the record whose fields equal those of the target's record.
  ///
  /// While that record does not exist, `target` holds its declared default, or NULL. The source's
  /// fields in `match` must be unique.
  ///
  /// - Parameters:
  ///   - transform: A deterministic SQL expression over the source's columns that is copied instead
  ///     of the field itself.
  ///   - withoutSource: The value of the target while there is no source.
  /// - Complexity: A change of the source updates the records that belong to it, found by an index
  ///   on the target's matching fields.
  public static func copy<Source: Model, Target: Model>(
    _ source: any PartialKeyPath<Source> & Sendable,
    to target: any PartialKeyPath<Target> & Sendable,
    matching match: BindingMatch<Source, Target>,
    _ others: BindingMatch<Source, Target>..., as transform: String? = nil,
    withoutSource: MissingSource = .reset, name: String? = nil
  ) -> FieldBinding {
    FieldBinding(
      formula: .lookup(
        source: Endpoint(source), .match(([match] + others).map { ($0.source, $0.target) }),
        transform: transform, keepsLast: withoutSource == .keepLast),
      target: Endpoint(target), name: name)
  }

  /// Copies the value of an expression over the record that `reference` names.
  ///
  /// - Parameters:
  ///   - source: The field that the expression is about, for display.
  ///   - transform: A deterministic SQL expression over the source's columns: `"upper(name)"`.
  ///   - withoutSource: The value of the target while there is no source.
  public static func copy<Source: Model, Target: Model>(
    _ source: any PartialKeyPath<Source> & Sendable,
    to target: any PartialKeyPath<Target> & Sendable,
    through reference: any PartialKeyPath<Target> & Sendable, as transform: String,
    withoutSource: MissingSource = .reset, name: String? = nil
  ) -> FieldBinding {
    FieldBinding(
      formula: .lookup(
        source: Endpoint(source), .through(Endpoint(reference), isOfTarget: true),
        transform: transform, keepsLast: withoutSource == .keepLast),
      target: Endpoint(target), name: name)
  }

  /// Copies `source` of one record, such as settings, into every record.
  ///
  /// - Parameters:
  ///   - key: The source record's key.
  ///   - transform: A deterministic SQL expression over the source's columns that is copied instead
  ///     of the field itself.
  public static func copy<Source: Model, Target: Model>(
    _ source: any PartialKeyPath<Source> & Sendable, of key: Source.Key,
    to target: any PartialKeyPath<Target> & Sendable, as transform: String? = nil,
    name: String? = nil
  ) -> FieldBinding {
    FieldBinding(
      formula: .lookup(
        source: Endpoint(source), .place { try key.sqlValues() }, transform: transform,
        keepsLast: false),
      target: Endpoint(target), name: name)
  }
}

/// Two fields that are equal in records that belong together.
public struct BindingMatch<Source: Model, Target: Model>: Sendable {
  let source: FieldBinding.Endpoint
  let target: FieldBinding.Endpoint

  /// Matches two fields with equal values.
  public static func equal<Value: ColumnValue>(
    _ source: any KeyPath<Source, Value> & Sendable, _ target: any KeyPath<Target, Value> & Sendable
  ) -> BindingMatch {
    BindingMatch(source: FieldBinding.Endpoint(source), target: FieldBinding.Endpoint(target))
  }

  /// Matches a field that always has a value with an optional one. nil matches nothing.
  public static func equal<Value: ColumnValue>(
    _ source: any KeyPath<Source, Value> & Sendable,
    _ target: any KeyPath<Target, Value?> & Sendable
  ) -> BindingMatch {
    BindingMatch(source: FieldBinding.Endpoint(source), target: FieldBinding.Endpoint(target))
  }
}

/// The value of a copied field while there is no record to copy from.
public enum MissingSource: Hashable, Sendable {
  /// The declared default, or NULL.
  case reset
  /// The last value.
  case keepLast
}
