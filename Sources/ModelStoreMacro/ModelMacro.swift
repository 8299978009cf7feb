@_exported public import ModelStore

/// Makes a struct a model: each stored property becomes a field, each value a record.
///
/// ```swift
/// @Model
/// struct Track {
///   var id: Int64
///   @Validate(.length(1...200)) var title: String
///   @Reference(Album.self, onDelete: .cascade) var albumID: Int64?
///   @Ordered var takes: OrderedList<Take>
/// }
/// ```
///
/// The struct gets its ``Model`` conformance with `definition`, `tableName` and `key`, positional
/// reading and writing, a memberwise initializer unless its body has an initializer, and `Draft`, a
/// record not yet inserted. A draft may leave out a single integer key, which SQLite then assigns,
/// and a single `UUID` key, which is then made up. Several `@Key` properties make a composite key
/// with a nested `Key` type. With a single key called `id` the struct is `Identifiable` too.
///
/// What is generated is as accessible as the struct; initializers at most as their least accessible
/// property. Computed and static properties are no fields. Generic types, lazy properties and
/// properties without a written type are refused.
///
/// - Parameter table: The table's name where it is not the struct's.
@attached(
  member,
  names: named(tableName), named(definition), named(key), named(Key), named(init), named(encode),
  named(Draft)
)
@attached(extension, conformances: Model, Identifiable)
public macro Model(table: String? = nil) =
  #externalMacro(module: "ModelStoreMacroPlugin", type: "ModelMacro")

/// Makes a property the key of its ``Model()``, or part of it, in the order of declaration.
///
/// Without it the property `id` is the key. A key is never optional.
@attached(peer)
public macro Key() =
  #externalMacro(module: "ModelStoreMacroPlugin", type: "FieldMarkerMacro")

/// Lets no two records have the same value in this field. NULL is never the same as another NULL.
@attached(peer)
public macro Unique() =
  #externalMacro(module: "ModelStoreMacroPlugin", type: "FieldMarkerMacro")

/// Says how a field's column differs from what its property says.
///
/// - Parameters:
///   - name: The column's name where it is not the property's.
///   - collation: How texts compare.
///   - default: An SQL expression for records inserted by writers that leave the field out; no
///     default for Swift, whose drafts take the property's initial value.
@attached(peer)
public macro Column(
  name: String? = nil, collation: Collation = .binary, default: String? = nil
) = #externalMacro(module: "ModelStoreMacroPlugin", type: "FieldMarkerMacro")

/// Adds rules that every record must meet. They become CHECK constraints, so they hold for every
/// writer. A rule over several fields is a `Rule.condition`.
@attached(peer)
public macro Validate(_ rules: FieldRule...) =
  #externalMacro(module: "ModelStoreMacroPlugin", type: "FieldMarkerMacro")

/// Lets a field hold only keys of another model's records: a foreign key.
///
/// - Parameters:
///   - model: The other model, or this one.
///   - onDelete: What happens to the record when the other is deleted. By default that is refused.
///   - onUpdate: What happens to the record when the other's key changes. By default that is
///     refused.
@attached(peer)
public macro Reference(
  _ model: any Model.Type, onDelete: ReferenceSchema.Action = .noAction,
  onUpdate: ReferenceSchema.Action = .noAction
) = #externalMacro(module: "ModelStoreMacroPlugin", type: "FieldMarkerMacro")

/// Makes a property of type `OrderedList` a list that each record owns. It is no column: its
/// elements stand in a table of their own, in order, duplicates allowed.
@attached(peer)
public macro Ordered() =
  #externalMacro(module: "ModelStoreMacroPlugin", type: "FieldMarkerMacro")
