import ModelStore

/// Taking back, step by step, and telling what it did.
struct Reversing {
  /// What it does: `undid`, `redid`, `reverted`.
  let verb: String
  let write: WriteOptions
  /// Does it once; a preview is rolled back. Returns nil when there is nothing to take back.
  let step: (Store, _ isPreview: Bool) throws -> Reversal?

  /// - Parameter nothing: What is said when there is nothing at all to take back.
  func run(times: Int = 1, nothing: String, _ context: CommandContext) throws -> ExitCode {
    let looked = try context.openToLook()
    let isOff = try looked.store.changeJournal.details().isEmpty
    looked.store.close()
    guard !isOff else {
      throw CommandError(
        .failed, code: StoreError.Code.journalGap.rawValue,
        "The change journal is off, so nothing can be taken back.", hint: "storecli journal on")
    }
    let opened = try context.openForWriting()
    var done: [Reversal] = []
    var failure: (any Error)?
    do {
      while done.count < times, let reversal = try next(opened, context) { done.append(reversal) }
    } catch {
      failure = error
    }
    if let failure, done.isEmpty { throw failure }
    guard !done.isEmpty else {
      throw CommandError(
        .notFound, code: "nothingToTakeBack", nothing, hint: "storecli history")
    }
    try context.telling {
      let report = ChangeReport(done.map(\.changes), in: opened.store.schema)
      try report.write(to: context)
      let lost = try UnloggedReach(store: opened.store)
        .tables(behind: report.lines, removal: .insert)
      if !lost.isEmpty {
        try context.console.say(
          "not brought back: what went along in \(lost.joined(separator: ", ")), which the journal "
            + "does not enter in full")
      }
      guard !context.isDryRun else { return }
      for reversal in done {
        let what = reversal.reverted.map { " \($0)" } ?? ""
        try context.console.say("\(verb) transaction\(what) as \(reversal.transaction)")
      }
      if done.count < times, failure == nil {
        try context.console.say(
          "only \(Grouped.text(done.count)) of \(Grouped.text(times)): nothing more is to be "
            + "taken back")
      }
    }
    if let failure { throw failure }
    return .ok
  }

  private func next(_ opened: OpenedStore, _ context: CommandContext) throws -> Reversal? {
    if context.isDryRun { return try previewed(opened) }
    if try !write.skipCodeValidators && !opened.store.declaredValidators().isEmpty {
      guard try previewed(opened) != nil else { return nil }
    }
    return try step(opened.store, false)
  }

  /// What a step would do, where this program may do it.
  private func previewed(_ opened: OpenedStore) throws -> Reversal? {
    let reversal = try step(opened.store, true)
    for model in Set(reversal?.changes.changes.map(\.model) ?? []).sorted() {
      // The slots of lists are no models of the schema; nobody has rules for them.
      guard opened.store.schema.models.contains(where: { $0.name == model }) else { continue }
      _ = try opened.writableModel(named: model, write)
    }
    return reversal
  }
}
