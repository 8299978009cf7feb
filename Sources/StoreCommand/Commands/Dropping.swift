import ModelStore

/// What `bindings drop` and `validators drop` have in common: one thing of the file goes by name.
struct Dropping {
  /// What it is: "binding".
  let noun: String
  /// The code of the error for a name that is not there.
  let code: String
  let list: String

  /// - Parameters:
  ///   - names: Those that can be dropped, for near misses.
  ///   - isThere: Whether there is one of that name, though it may not be for dropping.
  func drop(
    _ name: String, names: (Store) throws -> [String], isThere: (Store) throws -> Bool,
    _ write: WriteOptions, _ context: CommandContext, by drop: (Store) throws -> Void
  ) throws -> ExitCode {
    let looked = try context.openForReading()
    guard try isThere(looked.store) else {
      let names = try names(looked.store)
      throw CommandError(
        .notFound, code: code,
        "There is no \(noun) \(name)"
          + CommandError.meant(NearMiss.suggestions(for: name, among: names)),
        hint: list)
    }
    looked.store.close()
    if write.dryRun {
      try context.console.say("dry run: \(name) was not dropped")
      return .ok
    }
    try drop(try context.openForWriting(write).store)
    try context.console.say("dropped \(name)")
    return .ok
  }
}
