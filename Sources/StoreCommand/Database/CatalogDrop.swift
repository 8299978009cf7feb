import ModelStore

/// Drops a rule or a consumer, which the file stores under a name.
struct CatalogDrop {
  /// What it is called in messages.
  let noun: String
  /// The error if the name is unknown.
  let code: StoreError.Code
  /// The command that lists them.
  let list: String
  let names: (Store) throws -> [String]
  let drop: (CommandContext) throws -> Void

  /// - Parameter check: Refuses names that are not in ``names`` and cannot be dropped.
  /// - Throws: ``CommandError`` with near misses if `name` is unknown; the file is then unchanged.
  func run(
    _ name: String, _ context: CommandContext, check: (Store) throws -> Void = { _ in }
  ) throws {
    let looked = try context.openToLook()
    let names = try names(looked.store)
    if !names.contains(name) {
      try check(looked.store)
      throw CommandError.unknown(noun, name, among: names, code: code, list: list)
    }
    looked.store.close()
    guard !context.isDryRun else {
      return try context.console.say("dry run: \(name) would be dropped")
    }
    try drop(context)
    try context.console.say("dropped \(name)")
  }
}
