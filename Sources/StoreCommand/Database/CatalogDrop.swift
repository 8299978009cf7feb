import ModelStore

/// Drops one of the things that the file keeps under names: a rule, a consumer.
struct CatalogDrop {
  /// What it is.
  let noun: String
  /// The error when there is none of the name.
  let code: StoreError.Code
  /// The command that lists them.
  let list: String
  let names: (Store) throws -> [String]
  let drop: (Store) throws -> Void

  /// - Parameter check: Refuses names of what is not among ``names`` and cannot be dropped.
  /// - Throws: ``CommandError`` with near misses when there is none called `name`; then the file is
  ///   as it was.
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
      return try context.console.say("dry run: \(name) was not dropped")
    }
    try drop(context.openForWriting().store)
    try context.console.say("dropped \(name)")
  }
}
