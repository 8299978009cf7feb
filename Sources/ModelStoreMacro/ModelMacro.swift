#if Macros
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
  /// The struct gets its ``Model`` conformance with `definition`, `tableName` and `key`, and
  /// positional reading and writing. It gets a memberwise initializer unless its body declares an
  /// initializer. It also gets `Draft`, a record that is not inserted yet. A draft may leave out a
  /// single integer key, which SQLite then assigns, or a single `UUID` key, which is then
  /// generated. Several `@Key` properties make a composite key with a nested `Key` type. With a
  /// single key called `id` the struct is `Identifiable` too.
  ///
  /// The generated members are as accessible as the struct; initializers at most as their least
  /// accessible property. Computed and static properties are not fields. Generic types, lazy
  /// properties and properties without a written type are refused.
  ///
  /// - Parameter table: The table's name, if it differs from the struct's.
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

  /// Makes the values of a field unique. NULL never equals another NULL.
  @attached(peer)
  public macro Unique() =
    #externalMacro(module: "ModelStoreMacroPlugin", type: "FieldMarkerMacro")

  /// Sets the properties of a field's column that do not follow from its property.
  ///
  /// - Parameters:
  ///   - name: The column's name, if it differs from the property's.
  ///   - collation: How texts compare.
  ///   - default: An SQL expression for records inserted by writers that leave the field out. It is
  ///     not a default for Swift, whose drafts take the property's initial value.
  @attached(peer)
  public macro Column(
    name: String? = nil, collation: Collation = .binary, default: String? = nil
  ) = #externalMacro(module: "ModelStoreMacroPlugin", type: "FieldMarkerMacro")

  /// Adds rules that every record must meet. They become CHECK constraints, so they apply to every
  /// writer. For a rule over several fields, use `Rule.condition`.
  @attached(peer)
  public macro Validate(_ rules: FieldRule...) =
    #externalMacro(module: "ModelStoreMacroPlugin", type: "FieldMarkerMacro")

  /// Restricts a field to keys of another model's records: a foreign key.
  ///
  /// - Parameters:
  ///   - model: The other model, or this one.
  ///   - onDelete: What happens to the record when the other one is deleted. By default the
  ///     deletion is refused.
  ///   - onUpdate: What happens to the record when the other one's key changes. By default the
  ///     change is refused.
  @attached(peer)
  public macro Reference(
    _ model: any Model.Type, onDelete: ReferenceSchema.Action = .noAction,
    onUpdate: ReferenceSchema.Action = .noAction
  ) = #externalMacro(module: "ModelStoreMacroPlugin", type: "FieldMarkerMacro")

  /// Makes a property of type `OrderedList` a list that each record owns. It is not a column: its
  /// elements are in a separate table, in order, with duplicates allowed.
  @attached(peer)
  public macro Ordered() =
    #externalMacro(module: "ModelStoreMacroPlugin", type: "FieldMarkerMacro")
#endif
