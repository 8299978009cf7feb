/// A field kept equal to something else, in the database, for every writer.
///
/// A binding is declared when the store is opened and lives in the file as triggers from then on.
/// It only ever writes its target; to refuse values use a rule or a validator, and for values that
/// nobody needs to observe a generated column is cheaper.
/// ```swift
/// bindings: [
///   .copy(\Artist.name, to: \Album.artistName, through: \Album.artistID),
///   .derive(\Track.slug, from: "lower(title)"),
/// ]
/// ```
/// A bound field is not for writing: a value that a writer gives it is replaced within the same
/// statement. A field has one binding at most, bindings may feed one another, and they may not go
/// round in a circle; the store refuses to open where that does not hold.
public struct Binding: Sendable {
  private let formula: Formula
  private let target: Endpoint
  private let name: String?

  private enum Formula: Sendable {
    case copy(source: Endpoint, through: Endpoint)
    case derive(sql: String)
  }

  /// A field as it was named where the binding was declared.
  fileprivate enum Endpoint: Sendable {
    case field(BindingSchema.Field)
    /// A key path that is no stored field, and the type of its values.
    case notStored(model: String, type: String)
    /// `Model.field`, where both may hold dots.
    case text(String)
  }

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
  ) -> Binding {
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
  ) -> Binding {
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
  ) -> Binding {
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
  ) -> Binding {
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
  ) -> Binding {
    Binding(formula: .derive(sql: sql), target: Endpoint(target), name: name)
  }

  /// Copies between fields named as `Model.field`, for models without a Swift type.
  ///
  /// `.copy(from: "Artist.Name", to: "Album.ArtistName", through: "Album.ArtistId")`
  public static func copy(
    from source: String, to target: String, through reference: String, name: String? = nil
  ) -> Binding {
    copy(.text(source), to: .text(target), through: .text(reference), name: name)
  }

  /// Derives the field named as `Model.field` from other columns of the same record.
  ///
  /// `.derive(to: "Track.slug", from: "lower(title)")`
  public static func derive(to target: String, from sql: String, name: String? = nil) -> Binding {
    Binding(formula: .derive(sql: sql), target: .text(target), name: name)
  }

  private static func copy(
    _ source: Endpoint, to target: Endpoint, through reference: Endpoint, name: String?
  ) -> Binding {
    Binding(formula: .copy(source: source, through: reference), target: target, name: name)
  }

  /// The binding as a value, every name and type of it checked against `models`.
  ///
  /// - Throws: ``StoreError`` with code `unknownModel`, `unknownField` or `unsupportedSchema` and a
  ///   sentence that says what to declare instead. Circles and fields bound twice show only when
  ///   all bindings of a store are looked at together, as opening it does.
  public func schema(in models: [ModelSchema]) throws -> BindingSchema {
    let target = try target.field(in: models)
    let formula: BindingSchema.Formula =
      switch formula {
      case .derive(let sql): .derive(sql: sql)
      case .copy(let source, let through):
        .copy(
          source: try source.field(in: models),
          through: try through.field(in: models, of: target.model))
      }
    let schema = BindingSchema(name: name, target: target, formula: formula)
    return try ResolvedBinding(schema, in: models).schema
  }
}

extension Binding.Endpoint {
  fileprivate init<M: Model>(_ path: any PartialKeyPath<M> & Sendable) {
    let schema = M.schema
    if let index = M.definition.fieldIndex(of: path) {
      self = .field(BindingSchema.Field(model: schema.name, field: schema.fields[index].name))
    } else {
      self = .notStored(model: schema.name, type: "\(type(of: path).valueType)")
    }
  }

  fileprivate func field(in models: [ModelSchema]) throws -> BindingSchema.Field {
    switch self {
    case .field(let field): return field
    case .notStored(let model, let type):
      throw StoreError(
        .unknownField,
        "A binding names a property of \(model), of type \(type), that is no stored field. "
          + "Name one that is.",
        model: model)
    case .text(let text):
      let candidates = models.filter { text.hasPrefix($0.name + ".") }
      for model in candidates {
        let name = String(text.dropFirst(model.name.count + 1))
        if model.field(named: name) != nil {
          return BindingSchema.Field(model: model.name, field: name)
        }
      }
      guard let model = candidates.max(by: { $0.name.count < $1.name.count }) else {
        throw StoreError(
          .unknownModel,
          "A binding names \(text), whose model the store does not have. Write Model.field.")
      }
      let names = model.fields.map(\.name).joined(separator: ", ")
      throw StoreError(
        .unknownField,
        "A binding names \(text), which is no field of \(model.name). The fields are: \(names).",
        model: model.name, field: String(text.dropFirst(model.name.count + 1)))
    }
  }

  /// The name of a field that must be one of `model`.
  fileprivate func field(in models: [ModelSchema], of model: String) throws -> String {
    let field = try field(in: models)
    guard field.model == model else {
      throw StoreError(
        .unsupportedSchema,
        "A binding to \(model) goes through \(field), a field of another model. Name the field of "
          + "\(model) that refers to the source.", model: model)
    }
    return field.field
  }
}
