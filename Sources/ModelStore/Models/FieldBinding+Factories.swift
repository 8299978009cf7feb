// One way: a field that follows.
extension FieldBinding {
  /// Copies `source` of the record that `reference` names into `target`.
  ///
  /// While the reference is NULL or names no record, `target` holds its declared default, which it
  /// must have when it is not optional.
  ///
  /// - Parameter name: What events and errors call the binding; `Album.artistName` when nil.
  /// - Complexity: A change of the source updates the records that refer to it, found by an index
  ///   on `reference`; a change of a reference reads one source record.
  public static func copy<Source: Model, Target: Model, Value: ColumnValue>(
    _ source: any KeyPath<Source, Value> & Sendable,
    to target: any KeyPath<Target, Value> & Sendable,
    through reference: any KeyPath<Target, Source.Key?> & Sendable, name: String? = nil
  ) -> FieldBinding {
    copy(Endpoint(source), to: Endpoint(target), through: Endpoint(reference), name: name)
  }

  /// Copies `source` of the record that `reference` names into `target`.
  ///
  /// A reference that may not be NULL still names no record while foreign keys are deferred or
  /// off. `target` then holds its declared default, or keeps its value when it has none.
  ///
  /// - Parameter name: What events and errors call the binding; `Album.artistName` when nil.
  public static func copy<Source: Model, Target: Model, Value: ColumnValue>(
    _ source: any KeyPath<Source, Value> & Sendable,
    to target: any KeyPath<Target, Value> & Sendable,
    through reference: any KeyPath<Target, Source.Key> & Sendable, name: String? = nil
  ) -> FieldBinding {
    copy(Endpoint(source), to: Endpoint(target), through: Endpoint(reference), name: name)
  }

  /// Copies `source` of the record that `reference` names into the optional `target`, which is nil
  /// while the reference is nil or names no record, unless it declares another default.
  ///
  /// - Parameter name: What events and errors call the binding; `Album.artistName` when nil.
  public static func copy<Source: Model, Target: Model, Value: ColumnValue>(
    _ source: any KeyPath<Source, Value> & Sendable,
    to target: any KeyPath<Target, Value?> & Sendable,
    through reference: any KeyPath<Target, Source.Key?> & Sendable, name: String? = nil
  ) -> FieldBinding {
    copy(Endpoint(source), to: Endpoint(target), through: Endpoint(reference), name: name)
  }

  /// Copies `source` of the record that `reference` names into the optional `target`, which is nil
  /// while the reference names no record, unless it declares another default.
  ///
  /// - Parameter name: What events and errors call the binding; `Album.artistName` when nil.
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
  ///   - name: What events and errors call the binding; `Track.slug` when nil.
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
  /// - Parameter name: What events and errors call the binding; `Track.title` when nil.
  public static func copy<Target: Model, Value: ColumnValue>(
    _ source: any KeyPath<Target, Value> & Sendable,
    to target: any KeyPath<Target, Value> & Sendable,
    name: String? = nil
  ) -> FieldBinding {
    FieldBinding(formula: .same(source: Endpoint(source)), target: Endpoint(target), name: name)
  }

  /// Copies `source` of the record whose fields equal those of the target's record.
  ///
  /// While there is none, `target` holds its declared default, or NULL. The fields that `match`
  /// names of the source must be unique in it.
  ///
  /// - Parameters:
  ///   - transform: A deterministic SQL expression over the source's columns that is copied instead
  ///     of the field itself.
  ///   - withoutSource: What the target holds while there is no source.
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

  /// Copies what an expression makes of the record that `reference` names.
  ///
  /// - Parameters:
  ///   - source: The field that the expression is about, for people.
  ///   - transform: A deterministic SQL expression over the source's columns: `"upper(name)"`.
  ///   - withoutSource: What the target holds while there is no source.
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

  /// Two fields whose values mean the same.
  public static func equal<Value: ColumnValue>(
    _ source: any KeyPath<Source, Value> & Sendable, _ target: any KeyPath<Target, Value> & Sendable
  ) -> BindingMatch {
    BindingMatch(source: FieldBinding.Endpoint(source), target: FieldBinding.Endpoint(target))
  }

  /// A field that always has a value, and one that may be nil, which matches nothing then.
  public static func equal<Value: ColumnValue>(
    _ source: any KeyPath<Source, Value> & Sendable,
    _ target: any KeyPath<Target, Value?> & Sendable
  ) -> BindingMatch {
    BindingMatch(source: FieldBinding.Endpoint(source), target: FieldBinding.Endpoint(target))
  }
}

/// What a copied field holds while there is no record to copy from.
public enum MissingSource: Hashable, Sendable {
  /// Its declared default, or NULL.
  case reset
  /// The value that it held last.
  case keepLast
}
