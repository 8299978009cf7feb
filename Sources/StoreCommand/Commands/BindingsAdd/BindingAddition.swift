import ArgumentParser
import ModelStore

/// A command that adds a binding of one kind, and updates existing records.
protocol BindingAddition: WritingCommand {
  /// The bound field, as `Model.field`.
  var target: String { get }
  var binding: BindingOptions { get }

  /// What to pass if the binding is refused and no option says which records belong together.
  var missingLink: String? { get }

  /// What the bound field follows.
  ///
  /// - Throws: ``CommandError`` for unknown names and missing options.
  func formula(
    into target: BindingSchema.Field, of model: ModelSchema, _ words: BindingWords
  ) throws -> BindingSchema.Formula
}

extension BindingAddition {
  var hasData: Bool { false }
  var missingLink: String? { nil }

  func run(_ context: CommandContext) throws -> ExitCode {
    let looked = try context.openToLook()
    let binding = try schema(in: looked)
    // Refuses unknown names before the command waits for the file.
    _ = try refusingWords { try FieldBinding(binding).schema(in: looked.store.schema.models) }
    let others = try looked.store.bindings()
    if let other = others.first(where: { $0.name == binding.name }), other != binding {
      throw CatalogAddition.binding.isTaken(
        other.name, by: "\(other)", model: other.target.model)
    }
    for model in try binding.writtenModels(among: others, in: looked.store) {
      _ = try looked.writableModel(named: model, write)
    }
    let mayOverwrite = try binding.boundFields.contains { try looked.holdsValues(in: $0) }
    let isSharedAlready = try others.contains(binding) && looked.isMember
    looked.store.close()
    var opened = try context.openForWriting()
    if mayOverwrite, !self.binding.yes, !context.isDryRun {
      let count = try add(binding, to: opened.store, mode: .preview, context)
      let isGranted =
        try count == 0
        || Confirmation.isGranted(
          "Update \(Grouped.text(count, "existing record"))?", isGiven: false,
          flag: "--yes", console: context.console)
      guard isGranted else {
        try context.console.say("nothing was added")
        return .failed
      }
    }
    if !context.isDryRun { Interruption.await() }
    // All members would begin again for a binding that they have.
    let count =
      try context.isDryRun || isSharedAlready
      ? add(binding, to: opened.store, mode: .preview, context)
      : context.changeCatalog(through: &opened) { store in
        try add(binding, to: store, mode: .commit, context)
      }
    let would = context.isDryRun ? "would be " : ""
    try CatalogAddition.binding.say(
      "added", "\(would)added \(binding.name): \(binding)",
      consequence: count > 0 ? "\(Grouped.text(count, "record")) \(would)updated" : nil, context)
    return .ok
  }

  private func schema(in opened: OpenedStore) throws -> BindingSchema {
    let words = BindingWords(in: opened)
    let (model, field) = try words.field(target)
    let place = BindingSchema.Field(model: model.name, field: field.name)
    var schema = BindingSchema(
      name: binding.name, target: place, formula: try formula(into: place, of: model, words))
    schema.condition = binding.when
    schema.priority = binding.priority
    schema.mode = binding.number ? .numberInText : nil
    return schema
  }

  /// - Returns: How many records had another value.
  private func add(
    _ binding: BindingSchema, to store: Store, mode: WriteMode, _ context: CommandContext
  ) throws -> Int {
    var progress = Progress(console: context.console)
    defer { progress.clear() }
    let verb = mode == .preview ? "checking" : "adding"
    let interruption = CommandError(
      .interrupted, code: "interrupted", "Interrupted; the binding was not added.")
    do {
      return try refusingWords {
        try store.add(FieldBinding(binding), mode: mode) { done, all in
          guard !Interruption.isRequested else { throw interruption }
          progress.show("\(verb) \(binding.name)", done: done, of: all)
        }
      }
    } catch  where Interruption.explains(error) {
      throw interruption
    }
  }

  /// Runs `body`, which refuses bindings that a file cannot keep.
  private func refusingWords<Result>(_ body: () throws -> Result) throws -> Result {
    do {
      return try body()
    } catch let error as StoreError where error.code == .unsupportedSchema {
      throw CatalogAddition.binding.refused(
        error, model: error.model, field: error.field, kind: Self.configuration.commandName,
        advice: missingLink)
    }
  }
}

extension OpenedStore {
  /// Whether any record has a value in `field`, which a binding could replace.
  fileprivate func holdsValues(in field: BindingSchema.Field) throws -> Bool {
    let model = try model(named: field.model)
    let column = try model.requiredField(named: field.field).column
    let query = StoreQuery<DynamicRecord>(model, where: .sql("\(identifier: column) IS NOT NULL"))
    return try read { reads in try reads.count(query.limit(1)) } > 0
  }
}
