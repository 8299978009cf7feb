import ModelStore

// The ledger of a shared store.
extension CommandContext {
  /// The ledger of the shared store called `name`.
  ///
  /// - Throws: ``CommandError`` if nothing says where it is, or this program has no ledger.
  func ledger(of location: DatabaseLocation, store name: String) throws -> SharedLedger {
    if let ledger = application.configuration.ledger {
      guard ledger.name == name else {
        throw CommandError.usage("The store of this program is called \(ledger.name).")
      }
      return ledger
    }
    guard let connection = ledgerConnection(of: location) else {
      throw CommandError.usage(
        "Say where the ledger is: set \(DatabaseLocation.ledgerEnvironmentName) to a connection of PostgreSQL.",
        hint: "storecli help environment")
    }
    guard let makeLedger = application.makeLedger else {
      throw CommandError.withoutPostgres(code: "noLedger")
    }
    return try makeLedger(connection, name)
  }

  /// Where the ledger is, for PostgreSQL's library; nil if nothing says so.
  func ledgerConnection(of location: DatabaseLocation) -> String? {
    let name = DatabaseLocation.ledgerEnvironmentName
    let connection = surroundings.variables([name])[name] ?? location.ledger
    return connection.flatMap { $0.isEmpty ? nil : $0 }
  }

  /// Changes what the database has beside records. If it is a member of a shared store, the change
  /// is made on a copy, and all members begin again from that.
  ///
  /// - Parameters:
  ///   - opened: Opened for writing. A member is closed meanwhile, and opened again afterwards.
  ///   - body: Makes the change, on the store that it receives. On a member, everything that it
  ///     does takes effect together.
  /// - Throws: What `body` throws; ``CommandError`` if nothing says where the ledger of a member
  ///   is; ``StoreError``, as `SharedLedger.changeCatalog`.
  func changeCatalog<Result>(
    through opened: inout OpenedStore, _ body: (Store) throws -> Result
  ) throws -> Result {
    guard let name = try opened.store.sharedStoreName() else { return try body(opened.store) }
    guard let opening = opened.opening else { preconditionFailure("Completion changes nothing.") }
    let ledger = try opening.configuration.ledger ?? ledger(of: opened.location, store: name)
    let seen = try opened.store.sharedSchemaNumber()
    opened.store.close()
    let result = try ledger.changeCatalog(
      of: opened.location.path, seen: seen, declaring: opening.declarations, opening.configuration,
      report: opening.report, body)
    // That is this command's own change.
    sharedSchema.number = nil
    try console.say("the other members of \(name) get this schema when they open")
    do {
      try opened.reopen(opening)
    } catch var error as StoreError {
      error.message =
        "The shared store has the change, but the file could not be opened again: \(error.message)"
      throw error
    }
    return result
  }

  /// The part of the database in a shared store, which its ledger is asked about.
  ///
  /// - Throws: ``CommandError`` if it is not a member.
  func memberHealth() throws -> MemberHealth {
    let opened = try openToAskLedger()
    defer { opened.store.close() }
    guard let health = try opened.store.memberHealth() else {
      throw CommandError(
        .notFound, code: StoreError.Code.misuse.rawValue,
        "\(opened.location.path) is not a member of a shared store.", hint: "storecli share NAME")
    }
    return health
  }
}

extension CommandError {
  /// The error of a program that lacks what the trait Postgres brings.
  static func withoutPostgres(code: String) -> CommandError {
    CommandError(
      .failed, code: code,
      "This \(Program.name) was built without PostgreSQL. Nothing was changed.",
      hint: "build it with the trait Postgres: swift build -c release --traits Postgres")
  }
}
