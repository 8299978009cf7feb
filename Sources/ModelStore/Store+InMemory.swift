extension Store {
  /// Opens a new, empty store in the memory of this process, which is freed when you close it.
  ///
  /// It does all that a store on a file does, with the same snapshots and the same order of events.
  /// Each call opens a store of its own, so tests that run in parallel never meet:
  ///
  /// ```swift
  /// let store = try Store.inMemory(models: Author.self, Book.self)
  /// try store.write { tx in try tx.insert(Author(id: 1, name: "Ursula K. Le Guin")) }
  /// ```
  ///
  /// No other store or process can open it, and it creates no file. So settings of `configuration`
  /// that are about files have no effect: `durability`, `journalMode`, `sharing` and `busyTimeout`.
  ///
  /// - Parameters:
  ///   - models: The models of the program, whose tables are created.
  ///   - migrations: The program's migrations, as for a new file.
  ///   - bindings: Fields that the store keeps in sync.
  ///   - rules: Rules beside those in the models' definitions.
  ///   - validators: Rules in Swift that gate every commit.
  ///   - configuration: As for a store on a file, so that you can pass your program's own.
  ///   - onError: Receives failures that no caller receives. The default writes one line to
  ///     standard error.
  /// - Throws: ``StoreError``, as opening a file does; with code `configurationConflict` when
  ///   ``StoreConfiguration/access`` is `readOnly`.
  public static func inMemory(
    models: any Model.Type..., migrations: [Migration] = [], bindings: [FieldBinding] = [],
    rules: [Rule] = [], validators: [Validator] = [],
    configuration: StoreConfiguration = StoreConfiguration(),
    onError: @escaping @Sendable (StoreError) -> Void = StoreError.writeToStandardError
  ) throws -> Store {
    try inMemory(
      models: models, migrations: migrations, bindings: bindings, rules: rules,
      validators: validators, configuration: configuration, onError: onError)
  }

  /// Opens a new, empty store in memory with an array of models, such as the one that your program
  /// opens its file with.
  ///
  /// - Throws: As the form with a list of models.
  public static func inMemory(
    models: [any Model.Type], migrations: [Migration] = [], bindings: [FieldBinding] = [],
    rules: [Rule] = [], validators: [Validator] = [],
    configuration: StoreConfiguration = StoreConfiguration(),
    onError: @escaping @Sendable (StoreError) -> Void = StoreError.writeToStandardError
  ) throws -> Store {
    let declarations = Declarations(
      migrations: migrations, models: models, bindings: bindings, rules: rules,
      validators: validators, changeJournal: configuration.changeJournal)
    return Store(
      try lease(
        declaring: declarations, configuration: configuration, name: "The store in memory"
      ) {
        try StoreEngines.leaseInMemory(configuration, report: onError)
      })
  }
}
