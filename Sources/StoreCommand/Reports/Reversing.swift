import ModelStore

/// Takes changes back step by step and reports them.
struct Reversing {
  /// The verb for the report: `undid`, `redid`, `reverted`.
  let verb: String
  /// The command and its arguments, for hints: `undo 2`.
  let command: String
  let write: WriteOptions
  /// Runs one step; a preview is rolled back. Returns nil if there is nothing to take back.
  let step: (Store, _ mode: WriteMode) throws -> Reversal?
  /// The net result of several steps; nil for commands that run one step.
  let previews: ((Store, _ count: Int) throws -> ReversalPreview?)?

  init(
    verb: String, command: String, write: WriteOptions,
    step: @escaping (Store, _ mode: WriteMode) throws -> Reversal?,
    previews: ((Store, _ count: Int) throws -> ReversalPreview?)? = nil
  ) {
    self.verb = verb
    self.command = command
    self.write = write
    self.step = step
    self.previews = previews
  }

  /// - Parameter nothing: The message if there is nothing to take back.
  func run(times: Int = 1, nothing: String, _ context: CommandContext) throws -> ExitCode {
    let looked = try context.openToLook()
    let isOff = try looked.store.changeJournal.details().isEmpty
    looked.close()
    guard !isOff else {
      throw CommandError(
        .failed, code: StoreError.Code.journalGap.rawValue,
        "The change journal is off, so nothing can be taken back.", hint: "storecli journal on")
    }
    let opened = try context.openForWriting()
    let missing = CommandError(
      .notFound, code: "nothingToTakeBack", nothing, hint: "storecli history")
    if context.isDryRun, times > 1, let previews {
      return try look(times, missing, opened, context, previews)
    }
    var done: [Reversal] = []
    var failure: (any Error)?
    do {
      while done.count < times, let reversal = try next(opened, context) { done.append(reversal) }
    } catch {
      failure = error
    }
    if let failure, done.isEmpty { throw failure }
    guard !done.isEmpty else { throw missing }
    // Each step is a transaction of its own.
    defer { for reversal in done { context.warn(of: reversal.warned) } }
    try context.reporting {
      try report(done.map(\.changes), opened, context)
      guard !context.isDryRun else { return }
      for reversal in done {
        let what = reversal.reverted.map { " \($0)" } ?? ""
        try context.console.say("\(verb) transaction\(what) as \(reversal.transaction)")
      }
      if done.count < times, failure == nil {
        try context.console.say(
          "only \(Grouped.text(done.count)) of \(Grouped.text(times)): there is nothing more to take back"
        )
      }
    }
    if let failure { throw failure }
    return .ok
  }

  /// Reports the net result of the steps, and why fewer steps than requested are possible.
  private func look(
    _ times: Int, _ missing: CommandError, _ opened: OpenedStore, _ context: CommandContext,
    _ previews: (Store, _ count: Int) throws -> ReversalPreview?
  ) throws -> ExitCode {
    func preview(_ count: Int) throws -> ReversalPreview? {
      let preview = try previews(opened.store, count)
      if let preview { try checkWritable(preview.changes, opened) }
      return preview
    }
    var possible: ReversalPreview?
    var failure: (any Error)?
    do {
      // Step by step, since the net result of several steps may hide why one is refused.
      for count in 1...times {
        guard let next = try preview(count) else { break }
        possible = next
        if next.reverted.count < count { break }
      }
    } catch {
      failure = error
    }
    if let possible {
      defer { context.warn(of: possible.warned) }
      try report([possible.changes], opened, context)
      try context.console.say(
        "\(Grouped.text(possible.reverted.count, "transaction")) would be taken back")
    }
    if let failure { throw failure }
    guard possible != nil else { throw missing }
    return .ok
  }

  private func report(
    _ changes: [ChangeSet], _ opened: OpenedStore, _ context: CommandContext
  ) throws {
    let report = ChangeReport(changes, in: opened.store.schema)
    try report.write(to: context)
    if previews != nil { try sayUnrecorded(opened.store, context) }
    let lost = try UnloggedReach(store: opened.store)
      .tables(behind: report.lines, removal: .insert)
    if !lost.isEmpty {
      try context.console.say(
        "not brought back: cascaded changes in \(lost.joined(separator: ", ")), which the journal "
          + "does not record in full")
    }
  }

  /// Prints for which models no step can be taken back. The last change may have been one of
  /// theirs.
  private func sayUnrecorded(_ store: Store, _ context: CommandContext) throws {
    let details = try store.changeJournal.details()
    let refusals = try store.changeJournal.refusals()
    let names = store.schema.models.map(\.name)
      .filter { details[$0] != .full && refusals[$0] == nil }
    guard !names.isEmpty else { return }
    try context.console.say(
      "changes of \(names.joined(separator: ", ")) are not recorded and stay as they are")
  }

  private func next(_ opened: OpenedStore, _ context: CommandContext) throws -> Reversal? {
    if context.isDryRun { return try previewed(opened) }
    if try !write.skipCodeValidators && !opened.store.declaredValidators().isEmpty {
      guard try previewed(opened) != nil else { return nil }
    }
    return try step(opened.store, .commit)
  }

  /// The changes of a step, if this program may write their models.
  private func previewed(_ opened: OpenedStore) throws -> Reversal? {
    let reversal = try step(opened.store, .preview)
    if let reversal { try checkWritable(reversal.changes, opened) }
    return reversal
  }

  /// Refuses models with validators in Swift that this program cannot run, as a direct write of the
  /// same records does. What bindings and cascades change as a result does not count, here or
  /// there.
  private func checkWritable(_ changes: ChangeSet, _ opened: OpenedStore) throws {
    guard !write.skipCodeValidators else { return }
    let written = ChangeReport(changes, in: opened.store.schema).lines
      .filter { $0.origin == .user }.map(\.model)
    for model in Set(written).sorted() {
      let validators = try opened.missingValidators(of: model)
      guard validators.isEmpty else {
        throw CommandError(
          .rejected, code: "codeValidators",
          "Nothing was changed: this would write \(model), which has validators in Swift that only "
            + "its own program can run: \(validators.joined(separator: ", ")). Take it back with that "
            + "program, or without its validators.",
          hint: "storecli \(command) --skip-code-validators", model: model)
      }
    }
  }
}
